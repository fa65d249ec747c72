/** The types in the signatures of `atrium/server`: names where there are any, else what schemas accept and return. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { JsonObject } from "@atrium/contract/operations/values.ts";
import type * as z from "zod";
import { globalRegistry } from "zod";
import { scrolling } from "../../http/lists.ts";
import { ROOT } from "../process/supervisor.ts";
import { type Direction, definitionOf, findOf, print } from "./declarations.ts";
import { WireNames } from "./wire-names.ts";

type Schema = z.core.$ZodType;
export type Shape = z.core.$ZodShape;

/** The modules of types that are written by hand, as `generated.ts` imports them. */
const WRITTEN = ["../core/rest.ts", "./pages.ts", "./written.ts"];
const TYPE = /^export (?:interface|type) (\w+)/gm;
const BUILT_IN = new Set(["NonNullable", "Partial", "Pick", "Record", "Uint8Array"]);
/** The fields of the types that signatures combine with others. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  FileFilter: ["mimeType", "userId"],
  Page: ["limit", "offset"],
  Scroll: ["limit", "offset", "after"],
};
const OBJECTS = new Map([[JsonObject, "object"]]);

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly mark: "" | "?";
  readonly type: string;
  readonly description: string | undefined;
}

interface Interface {
  readonly name: string;
  readonly kind: "arguments" | "response";
  readonly operations: readonly string[];
  readonly base: "Scroll" | "Page" | null;
  readonly fields: readonly Field[];
}

/** Prints types, and collects the interfaces that they need and the imports of others. */
export class SdkTypes {
  readonly #names: WireNames;
  readonly #written: ReadonlyMap<string, string>;
  readonly #interfaces = new Map<string, Interface>();
  readonly #imported = new Map<string, Set<string>>();

  /** `written` has the modules of the types that are written by hand, by their names. */
  private constructor(names: WireNames, written: ReadonlyMap<string, string>) {
    this.#names = names;
    this.#written = written;
  }

  static async load(): Promise<SdkTypes> {
    const written = new Map<string, string>();
    for (const module of WRITTEN) {
      const text = await readFile(path.join(ROOT, "packages/sdk/server", module), "utf8");
      for (const [, name = ""] of text.matchAll(TYPE)) written.set(name, module);
    }
    return new SdkTypes(await WireNames.load(), written);
  }

  imports(): string[] {
    return [...this.#imported].map(
      ([module, names]) => `import type { ${[...names].sort().join(", ")} } from "${module}";`,
    );
  }

  interfaces(): string[] {
    const sorted = [...this.#interfaces.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
    return sorted.map(printInterface);
  }

  /** A type of a signature, as the generated module refers to it. */
  resolve(type: string): string {
    return type.replaceAll(/(?<!["\w])[A-Z]\w*/g, (name) => {
      this.#import(name);
      return this.#names.qualify(name) ?? name;
    });
  }

  /** The type of a field of a body. Callers may give constant lists. */
  input(schema: Schema): string {
    const type = this.#print(schema, "input");
    const isList = type.endsWith("[]") && (type.endsWith(")[]") || !type.includes(" | "));
    return isList ? `readonly ${type}` : type;
  }

  output(schema: Schema): string {
    return this.#print(schema, "output");
  }

  /** The type of a list's items. */
  item(list: Schema): string {
    const definition = definitionOf(list);
    if (definition.type === "readonly") return this.item(definition.innerType);
    if (definition.type !== "array") throw new Error("The field is no list");
    return this.output(definition.element);
  }

  /** The type of a whole response: its name, or its list and the kind of its page. */
  response(data: Schema): string {
    const name = this.#names.nameOf(data, "output");
    if (name !== null) return name;
    const { cursor, total, limit, offset, ...others } = shapeOf(data);
    const [[list, items] = [], ...further] = Object.entries(others);
    const isList = (cursor ?? total) !== undefined && further.length === 0;
    if (!isList || list === undefined || items === undefined) return this.output(data);
    const shown =
      total === undefined ? ', Pick<ScrollShown, "cursor">' : cursor === undefined ? ", PageShown" : "";
    return this.resolve(`Listed<"${list}", `) + this.item(items) + this.resolve(`${shown}>`);
  }

  /** The type of a whole response by the name of the signature, which is declared if there is none. */
  namedResponse(name: string, operation: string, data: Schema): string {
    if (this.#isNew(name)) {
      const fields = fieldsOf(shapeOf(data), "output", (schema) => this.output(schema));
      this.#declare({ name, kind: "response", operation, base: null, fields });
    }
    return this.resolve(name);
  }

  /** The type of a whole body, or of some fields of body or query without a name. */
  unnamedArgument(body: Schema | undefined, fields: Shape): string {
    const whole = body && this.#names.nameOf(body, "input");
    return (
      whole ??
      `{ ${this.#argumentFields(body, fields)
        .map((field) => `${lineOf(field)} `)
        .join("")}}`
    );
  }

  /**
   * The type of some fields of body or query by the name of the signature. It is declared if there is none; in an
   * intersection, with the fields that the other types do not have. Of iterators, it has no page.
   */
  namedArgument(
    type: string,
    operation: string,
    body: Schema | undefined,
    shape: Shape,
    isEach: boolean,
  ): string {
    const parts = type.split(" & ");
    const name = parts.find((part) => this.#isNew(part));
    if (name === undefined) return this.resolve(type);
    const fields = this.#argumentFields(body, shape);
    const base = parts.length === 1 ? baseOf(shape) : null;
    const others = [...parts, base ?? ""].flatMap(
      (part) => FIELDS[part] ?? part.match(/(?<=")\w+(?=")/g) ?? [],
    );
    const own = fields.filter(
      (field) => !others.includes(field.name) && !(isEach && field.name in scrolling),
    );
    const known = this.#interfaces.get(name);
    if (known !== undefined && isEach) requireSame(withoutPage(known), { base: null, fields: own });
    else this.#declare({ name, kind: "arguments", operation, base: isEach ? null : base, fields: own });
    if (base !== null) this.#import(base);
    return this.resolve(isEach && known?.base === "Scroll" ? `Filter<${type}>` : type);
  }

  #argumentFields(body: Schema | undefined, shape: Shape): Field[] {
    return fieldsOf(shape, "input", (schema) =>
      body === undefined ? typeOfParameter(schema) : this.input(schema),
    );
  }

  /** Several operations may have the same interface, with descriptions of their own. */
  #declare({ operation, ...declared }: Omit<Interface, "operations"> & { readonly operation: string }): void {
    const known = this.#interfaces.get(declared.name) ?? { ...declared, operations: [] };
    requireSame(known, declared);
    const fields = known.fields.map((field, index) =>
      field.description === declared.fields[index]?.description
        ? field
        : { ...field, description: undefined },
    );
    this.#interfaces.set(declared.name, { ...known, fields, operations: [...known.operations, operation] });
  }

  /** Whether a part of a type is a name that neither the SDK nor the language has. */
  #isNew(name: string): boolean {
    const isKnown = BUILT_IN.has(name) || this.#written.has(name) || this.#names.qualify(name) !== null;
    return /^[A-Z]\w*$/.test(name) && !isKnown;
  }

  #print(schema: Schema, direction: Direction): string {
    const nameOf = (each: Schema) =>
      (direction === "input" ? findOf(OBJECTS, each) : null) ?? this.#names.nameOf(each, direction);
    const type = print(schema, { direction, nameOf, indent: "" });
    return type.replaceAll(/\n *\/\*\*.*\*\/(?=\n)/g, "").replace(/ \| undefined$/, "");
  }

  #import(name: string): void {
    const module = this.#written.get(name);
    if (module !== undefined) this.#imported.set(module, (this.#imported.get(module) ?? new Set()).add(name));
  }
}

export const shapeOf = (schema: Schema | undefined): Shape => {
  const definition = schema && definitionOf(schema);
  return definition?.type === "object" ? definition.shape : {};
};

export const isRequired = (schema: Schema): boolean => schema._zod.optin === undefined;

/** The page that a query has, which is that of many lists. */
function baseOf({ limit, offset, after }: Shape): "Scroll" | "Page" | null {
  if (limit !== scrolling.limit || offset !== scrolling.offset) return null;
  return after === scrolling.after ? "Scroll" : "Page";
}

const fieldsOf = (shape: Shape, direction: Direction, typeOf: (schema: Schema) => string): Field[] =>
  Object.entries(shape).map(([name, schema]) => {
    const isOptional = direction === "input" ? !isRequired(schema) : schema._zod.optout === "optional";
    const isGiven = direction === "input" && isOptional;
    const { description } = globalRegistry.get(schema) ?? {};
    return {
      ...{ name, schema, description, mark: isOptional ? "?" : "" },
      type: isGiven ? `${typeOf(schema)} | undefined` : typeOf(schema),
    };
  });

type Members = Pick<Interface, "base" | "fields">;

const withoutPage = (known: Interface): Interface => ({
  ...known,
  base: null,
  fields: known.fields.filter(({ name }) => !(name in scrolling)),
});

/** Throws if an endpoint takes or returns less or more than the interface that another one has declared by the name. */
function requireSame(known: Interface, members: Members): void {
  const linesOf = ({ base, fields }: Members): string => [base, ...fields.map(lineOf)].join("\n");
  if (linesOf(known) !== linesOf(members))
    throw new Error(`${known.name} has other fields in ${known.operations.join()}`);
}

const lineOf = ({ name, mark, type }: Field): string => `readonly ${name}${mark}: ${type};`;

/** Parameters of a query are text that the service reads: their types are those that the description of the API states. */
export function typeOfParameter(schema: Schema): string {
  const { override } = globalRegistry.get(schema) ?? {};
  const stated: { readonly type?: unknown; readonly enum?: readonly unknown[] } = Object(override);
  const definition = definitionOf(schema);
  const values = stated.enum ?? (definition.type === "enum" ? Object.values(definition.entries) : undefined);
  if (stated.type === "integer") return "number";
  if (values !== undefined)
    return values.includes("true") ? "boolean" : values.map((value) => JSON.stringify(value)).join(" | ");
  if (stated.type === "string" || definition.type === "string") return "string";
  if (definition.type === "optional" || definition.type === "default")
    return typeOfParameter(definition.innerType);
  if (definition.type === "pipe") return typeOfParameter(definition.in);
  if (definition.type === "array") return `readonly (${typeOfParameter(definition.element)})[]`;
  throw new Error(`A query has no parameters of the type ${definition.type}`);
}

function printInterface({ name, kind, operations, base, fields }: Interface): string {
  const lines = fields.map((field) => `${commentOf(field.description ?? "")}${lineOf(field)}\n`);
  const doc = commentOf(`The ${kind} of ${operations.map((operation) => `\`${operation}\``).join(", ")}.`);
  return `${doc}export interface ${name}${base === null ? "" : ` extends ${base}`} {\n${lines.join("")}}\n`;
}

const LINE_LENGTH = 105;

/** The text as a comment in lines of the usual length; nothing for no text. */
export function commentOf(text: string): string {
  if (text === "") return "";
  const lines = [""];
  for (const word of text.replaceAll("*/", "*\\/").split(/\s+/)) {
    const line = lines.pop() ?? "";
    if (line.length + word.length < LINE_LENGTH) lines.push(line === "" ? word : `${line} ${word}`);
    else lines.push(line, word);
  }
  return lines.length === 1
    ? `/** ${lines[0]} */\n`
    : `/**\n${lines.map((line) => ` * ${line}\n`).join("")} */\n`;
}
