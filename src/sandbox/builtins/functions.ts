/** Functions and proxies: built-ins that call each other through them, without code of the program, tick as well. */
import { tick } from "../guard/guard.ts";
import { apply, construct, get, NativeProxy, slice, test } from "../guard/intrinsics.ts";
import { checkConstruction, checkEach, handlerOf, method, type Native, replace } from "./wrap.ts";

const IS_NATIVE = /\{\s*\[native code\]\s*\}$/;
const SOURCE_END = -40;

export function boundFunctions(): void {
  const { toString: sourceOf, bind } = Function.prototype;
  const traps = handlerOf<Native>({
    apply(target, self, args: unknown[]) {
      tick();
      return apply(target, self, args);
    },
    construct(target, args: unknown[], newTarget) {
      tick();
      return construct(target, args, newTarget) as object;
    },
  });
  // As the `then` of an awaited value, a bound native could call itself without end.
  replace(Function.prototype, "bind", () =>
    method((self, args) => {
      const bound = apply(bind as Native, self, args) as Native;
      const source = apply(sourceOf as Native, self, []) as string;
      return test(IS_NATIVE, slice(source, SOURCE_END)) ? new NativeProxy(bound, traps) : bound;
    }),
  );
  checkConstruction(globalThis, "Proxy", watchHandler);
  checkEach(Proxy, ["revocable"], (_, args) => watchHandler(args));
}

const watching = handlerOf<object>({
  get(handler, trap) {
    tick();
    return get(handler, trap);
  },
});

/** Every operation on a proxy reads a trap from its handler, so the handler can count them. */
function watchHandler(args: unknown[]): void {
  const handler = args[1];
  const isObject = (typeof handler === "object" && handler !== null) || typeof handler === "function";
  if (isObject) args[1] = new NativeProxy(handler, watching);
}
