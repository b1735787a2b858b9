// Runs before every script: what would differ from one machine or moment to the next is pinned or
// taken away. Gives what the house needs later, out of reach of the script.
(function (now, random) {
  "use strict";

  const hide = (owner, name, value) =>
    Object.defineProperty(owner, name, { value, writable: true, configurable: true });

  const Clock = Date;
  function Pinned(...parts) {
    if (new.target === undefined) return new Clock(now).toString();
    return Reflect.construct(Clock, parts.length === 0 ? [now] : parts, new.target);
  }
  Pinned.prototype = Clock.prototype;
  hide(Pinned, "name", "Date");
  hide(Pinned, "length", 7);
  hide(Pinned, "now", () => now);
  hide(Pinned, "parse", Clock.parse);
  hide(Pinned, "UTC", Clock.UTC);
  hide(Clock.prototype, "constructor", Pinned);
  hide(globalThis, "Date", Pinned);
  hide(Math, "random", random);

  const silent = () => {};
  const methods = ["log", "debug", "info", "warn", "error", "trace"];
  hide(globalThis, "console", Object.fromEntries(methods.map((name) => [name, silent])));

  // Arithmetic that never looks up, and memory made to be shared with other threads.
  const unwanted = ["BigInt", "BigInt64Array", "BigUint64Array", "SharedArrayBuffer", "Atomics"];
  for (const name of unwanted) delete globalThis[name];

  const { Map, Set, DataView, String, Number, Boolean, isNaN } = globalThis;
  const { isArray, from } = Array;
  const { isView } = ArrayBuffer;
  const { fromEntries } = Object;
  const text = Function.prototype.call.bind(Clock.prototype.toISOString);
  const whole = Function.prototype.call.bind(String.prototype.toWellFormed);

  // What JSON has no word for, one level deep; anything else is given back as it is.
  function plain(value) {
    if (value instanceof Map) return fromEntries(value);
    if (value instanceof Set || isArray(value)) return from(value);
    if (value instanceof Clock) return isNaN(value) ? null : text(value);
    const isBoxed = value instanceof String || value instanceof Number || value instanceof Boolean;
    if (isBoxed) return value.valueOf();
    if (isView(value) && !(value instanceof DataView)) return from(value);
    return value;
  }
  return { plain, whole };
})
