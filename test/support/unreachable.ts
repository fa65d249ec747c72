/** Durable Objects that cannot be reached. */
import type { Env } from "../../src/env.ts";

/** The namespace, with objects that cannot be reached: those of these names, or all. */
export const unreachable = <Namespace extends Env["ROOMS"] | Env["SUBSCRIBERS"]>(
  namespace: Namespace,
  names: readonly string[] | null = null,
): Namespace =>
  new Proxy(namespace, {
    get: (target, property) => {
      if (property !== "getByName") throw new Error(`Not used by the service: ${String(property)}`);
      return (name: string) => {
        if (names === null || names.includes(name)) throw new Error("fault: the object cannot be reached");
        return target.getByName(name);
      };
    },
  });
