# What would look outside finds nothing there.
def inputs: empty;
def input: error("No more inputs");
def input_filename: null;
def input_line_number: 0;
def halt_error: error;
def halt_error($code): error;
def localtime: gmtime;
def strflocaltime($format): strftime($format);

# What jq has and jaq has not, or has otherwise.
def toarray: if isarray then . else [.] end;
def leaf_paths: paths(scalars);
def IN(stream): any(stream == .; .);
def IN(source; stream): any(source == stream; .);
def INDEX(stream; key): reduce stream as $row ({}; .[$row | key | tostring] = $row);
def INDEX(key): INDEX(.[]; key);
def ascii: [.] | implode;
def trimstr($text): ltrimstr($text) | rtrimstr($text);
def date: todate;
def dateadd(unit; $seconds): . + $seconds;
def datesub(unit; $seconds): . - $seconds;

def from_entries:
  def named: if has("key") then .key elif has("k") then .k elif has("name") then .name
    elif has("Name") then .Name elif has("Key") then .Key elif has("K") then .K else null end;
  def valued: if has("value") then .value elif has("v") then .v
    elif has("Value") then .Value elif has("V") then .V else null end;
  reduce .[] as $entry ({};
    .[$entry | named | if isstring then . else tojson end] = ($entry | valued));
def with_entries(f): to_entries | map(f) | from_entries;

def join($separator):
  map(if . == null then "" else tostring end)
  | if . == [] then "" else reduce .[1:][] as $item (.[0]; . + $separator + $item) end;

# One cell of a row; `f` says how a text is written.
def cell(f):
  if isstring then f elif . == null then ""
  elif isarray or isobject then error("an array or object has no place in a row")
  else tostring end;
def @csv: map(cell("\"" + gsub("\""; "\"\"") + "\"")) | join(",");
def @tsv:
  def escaped: gsub("\\\\"; "\\\\") | gsub("\t"; "\\t") | gsub("\n"; "\\n") | gsub("\r"; "\\r");
  map(cell(escaped)) | join("\t");
