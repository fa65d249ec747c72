/** The names that `packages/sdk/wire` gives to the schemas of the service. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import type * as z from "zod";
import { ROOT } from "../process/supervisor.ts";
import { type Direction, definitionOf, findOf, type NamedType, PlainTypes } from "./declarations.ts";

const WIRE = "sdk/wire";
const EXPORT_LIST = /^export type \{([^}]*)\} from "([^"]+)";/gm;
const NAMESPACE = /^import type \* as (\w+) from "([^"]+)";/gm;
const BODY = /^export type (\w+) = Immutable<(\w+)\.(\w+)>;/gm;
const OWN_TYPE = /^export (?:type|interface) (\w+)\b/gm;

const moduleOf = (specifier: string): string =>
  specifier.startsWith(".") ? path.join(WIRE, specifier) : specifier;

/** Types are named as `generated.ts` refers to them: `wire.Comment` and `input.CommentInput`. */
export class WireNames {
  readonly #outputs = new Map<z.core.$ZodType, string>();
  readonly #inputs = new Map<z.core.$ZodType, string>();
  readonly #qualified = new Map<string, string>();

  static async load(): Promise<WireNames> {
    const names = new WireNames();
    await names.#load();
    return names;
  }

  /** The type of a schema; null if it has no name. */
  nameOf(schema: z.core.$ZodType, direction: Direction): string | null {
    const name = direction === "input" ? findOf(this.#inputs, schema) : null;
    // Objects with defaults are named after their output form.
    if (name !== null || (direction === "input" && definitionOf(schema).type === "object")) return name;
    return findOf(this.#outputs, schema);
  }

  /** The type of a name; null if `packages/sdk/wire` has none of the name. */
  qualify(name: string): string | null {
    return this.#qualified.get(name) ?? null;
  }

  async #load(): Promise<void> {
    const types = new PlainTypes();
    const typeIn = async (specifier: string, name: string): Promise<NamedType | undefined> =>
      (await types.load(moduleOf(specifier))).find((type) => type.name === name);
    const resources = await readFile(path.join(ROOT, "packages", WIRE, "resources.ts"), "utf8");
    for (const [, name = ""] of resources.matchAll(OWN_TYPE)) this.#qualified.set(name, `wire.${name}`);
    for (const [, list = "", specifier = ""] of resources.matchAll(EXPORT_LIST))
      for (const [, name = "", alias = name] of list.matchAll(/(\w+)(?: as (\w+))?/g)) {
        this.#qualified.set(alias, `wire.${alias}`);
        const schema = (await typeIn(specifier, name))?.schema;
        if (schema !== undefined) this.#outputs.set(schema, `wire.${alias}`);
      }
    const requests = await readFile(path.join(ROOT, "packages", WIRE, "requests.ts"), "utf8");
    const modules = new Map(
      [...requests.matchAll(NAMESPACE)].map(([, name = "", from = ""]) => [name, from]),
    );
    for (const [, name = "", namespace = "", type = ""] of requests.matchAll(BODY)) {
      this.#qualified.set(name, `input.${name}`);
      const schema = (await typeIn(modules.get(namespace) ?? "", type))?.schema;
      if (schema !== undefined) this.#inputs.set(schema, `input.${name}`);
    }
  }
}
