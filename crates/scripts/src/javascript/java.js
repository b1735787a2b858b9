// Scripts written for Conductor's Java maps and lists call their methods. Given only to a script
// that does, on its input only, and never to be seen by `in`-loops, keys or JSON.
(function (input) {
  "use strict";

  const hide = (owner, methods) => {
    for (const name of Object.keys(methods)) {
      const value = methods[name];
      Object.defineProperty(owner, name, { value, writable: true, configurable: true });
    }
  };
  const has = Function.prototype.call.bind(Object.prototype.hasOwnProperty);

  hide(Array.prototype, {
    size() { return this.length; },
    isEmpty() { return this.length === 0; },
    get(index) { return this[index]; },
    contains(item) { return this.includes(item); },
  });

  const map = {};
  hide(map, {
    size() { return Object.keys(this).length; },
    isEmpty() { return Object.keys(this).length === 0; },
    get(key) { return has(this, key) ? this[key] : null; },
    containsKey(key) { return has(this, key); },
  });

  const dress = (value) => {
    if (value === null || typeof value !== "object") return;
    if (!Array.isArray(value)) Object.setPrototypeOf(value, map);
    for (const item of Object.values(value)) dress(item);
  };
  dress(input);
})
