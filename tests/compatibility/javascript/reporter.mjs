// One line per scenario, and the whole error of what failed.
import { inspect } from "node:util";

export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type === "test:pass" || type === "test:fail") {
      const failed = type === "test:fail";
      // A file that could not be loaded is reported under its path, without a number.
      const name = /^\d\d /.test(data.name) ? data.name : `00 ${data.name}`;
      if (failed || name === data.name) yield `${failed ? "FAILED" : "ok"} ${name} (${Math.round(data.details.duration_ms)} ms)\n`;
      if (failed) yield `${inspect(data.details.error.cause ?? data.details.error)}\n`;
    } else if (type === "test:stdout" || type === "test:stderr") {
      yield data.message;
    }
  }
}
