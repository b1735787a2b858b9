# What goes into a step, and what comes out of the run, is picked from the input and from earlier steps.
define-json {"name": "invoice", "tasks": [
    {"name": "price", "taskReferenceName": "priced", "type": "SIMPLE", "inputParameters": {
        "sku": "${workflow.input.sku}", "greeting": "Dear ${workflow.input.who.name}!", "fixed": [1, true]}},
    {"name": "bill", "taskReferenceName": "billed", "type": "SIMPLE", "inputParameters": {
        "cents": "${priced.output.cents}", "all": "${priced.output}", "none": "${priced.output.tax}"}}],
  "outputParameters": {"paid": "${billed.output.ok}", "by": "${workflow.input.who.name}"}}
start    march = invoice {"sku": "A-7", "who": {"name": "Ann"}}
claim    price by ann
report   price by ann COMPLETED {"cents": 1250, "currency": "EUR"}
claim    bill by ann
report   bill by ann COMPLETED {"ok": true}
show     march
> COMPLETED  invoice  {"paid": true, "by": "Ann"}
>   COMPLETED  priced  attempt 0  from {"sku": "A-7", "greeting": "Dear Ann!", "fixed": [1, true]}  {"cents": 1250, "currency": "EUR"}
>   COMPLETED  billed  attempt 0  from {"cents": 1250, "all": {"cents": 1250, "currency": "EUR"}, "none": null}  {"ok": true}
