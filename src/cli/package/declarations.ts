/** Writes the declarations of the package and of workflows. Types that zod schemas infer are printed without zod. */

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "zod";

const SPECIFIER = /(\bfrom |\bimport\(|\bimport )"([^"]+)"/g;

const ROOT = path.join(import.meta.dirname, "../../..");
const CONTRACT = "@atrium/contract/";

const isOwn = (specifier: string): boolean => specifier.startsWith(".") || specifier.startsWith(CONTRACT);

/** Modules are named by their paths below `packages`; modules of the contract as other modules import them. */
const moduleOf = (from: string, specifier: string): string =>
  specifier.startsWith(".") ? path.join(path.dirname(from), specifier) : specifier;

const placeOf = (module: string): string => path.join("packages", module.replace(CONTRACT, "contract/"));

const sourceOf = (module: string): string => path.join(ROOT, placeOf(module));

const declarationOf = (module: string): string =>
  module.replace(CONTRACT, "contract/").replace(/\.tsx?$/, ".d.ts");

interface DeclarationOptions {
  /** The folder of the compiler's declarations of the repository. */
  readonly emitted: string;
  /** The folder to write to: files keep their paths below `packages`. */
  readonly outdir: string;
  readonly entries: readonly string[];
  readonly packages: readonly string[];
}

/** Writes the declarations of the entries and of all modules that they import. */
export async function writeDeclarations(options: DeclarationOptions): Promise<void> {
  const { emitted, outdir, entries, packages } = options;
  const plainTypes = new PlainTypes();
  const texts = new Map<string, string>();
  const reached = new Set(entries);
  for (const file of reached) {
    const text =
      (await plainTypes.print(file)) ??
      (await readFile(path.join(emitted, placeOf(file).replace(/\.tsx?$/, ".d.ts")), "utf8"));
    for (const [, , specifier = ""] of text.matchAll(SPECIFIER)) {
      if (isOwn(specifier)) reached.add(moduleOf(file, specifier));
      else if (!packages.some((name) => specifier === name || specifier.startsWith(`${name}/`)))
        throw new Error(`${file} declares types of "${specifier}", which the package does not depend on.`);
    }
    texts.set(file, text);
    const target = path.join(outdir, declarationOf(file));
    await mkdir(path.dirname(target), { recursive: true });
    const declared = text.replaceAll(SPECIFIER, (whole, keyword: string, specifier: string) =>
      isOwn(specifier) ? `${keyword}"${declaredAs(file, moduleOf(file, specifier))}"` : whole,
    );
    await writeFile(target, declared);
  }
  for (const [file, text] of texts)
    for (const [name, from] of importsOf(text)) {
      const target = moduleOf(file, from);
      if (!new RegExp(`\\b${name}\\b`).test(texts.get(target) ?? ""))
        throw new Error(
          `${file} needs the type ${name}, which ${target} does not export or has no plain form of.`,
        );
    }
}

/** The specifier of one declaration in another, as compilers before TypeScript 5 expect it. */
const declaredAs = (from: string, to: string): string =>
  relative(declarationOf(from), declarationOf(to)).replace(/\.d\.ts$/, ".js");

/** The names that declarations import from each other. */
function* importsOf(text: string): Generator<readonly [name: string, from: string]> {
  for (const [, names = "", from = ""] of text.matchAll(/\{([^}]*)\} from "((?:\.|@atrium)[^"]+)"/g))
    for (const [, name = ""] of names.matchAll(/(?:^|,)\s*(?:type )?(\w+)/g)) yield [name, from];
  for (const [, alias, from = ""] of text.matchAll(/\* as (\w+) from "((?:\.|@atrium)[^"]+)"/g))
    for (const [, name = ""] of text.matchAll(new RegExp(`(?<![\\w/])${alias}\\.(\\w+)`, "g")))
      yield [name, from];
}

const SCHEMAS = ["resources/room.ts", "resources/user.ts", "resources/file.ts", "resources/events.ts"];

export async function workflowDeclarations(): Promise<string> {
  const plainTypes = new PlainTypes();
  const printed = await Promise.all(SCHEMAS.map((file) => plainTypes.print(CONTRACT + file)));
  const bindings = await readFile(sourceOf(`${CONTRACT}workflow/bindings.ts`), "utf8");
  return [...printed, bindings].join("\n");
}

export type Direction = "input" | "output";

type NameOf = (schema: z.core.$ZodType) => string | null;

interface Printing {
  readonly direction: Direction;
  readonly nameOf: NameOf;
  readonly indent: string;
}

export const definitionOf = (schema: z.core.$ZodType) => (schema as z.core.$ZodTypes)._zod.def;

class UnprintableTypeError extends Error {}

export function print(schema: z.core.$ZodType, printing: Printing): string {
  const name = printing.nameOf(schema);
  if (name !== null) return name;
  const definition = definitionOf(schema);
  const inner = (one: z.core.$ZodType) => print(one, printing);
  switch (definition.type) {
    case "string":
    case "number":
    case "boolean":
    case "unknown":
    case "null":
      return definition.type;
    case "literal":
      return definition.values.map((value) => JSON.stringify(value)).join(" | ");
    case "enum":
      return Object.values(definition.entries)
        .map((value) => JSON.stringify(value))
        .join(" | ");
    case "object":
      return printObject(definition.shape, printing);
    case "array":
      return arrayOf(inner(definition.element));
    case "readonly":
      // Fields of objects are readonly as they are.
      return `${definitionOf(definition.innerType).type === "array" ? "readonly " : ""}${inner(definition.innerType)}`;
    case "tuple":
      return `[${definition.items.map(inner).join(", ")}]`;
    case "record":
      return `Record<${inner(definition.keyType)}, ${inner(definition.valueType)}>`;
    case "union":
      return definition.options.map(inner).join(" | ");
    case "nullable":
      return `${inner(definition.innerType)} | null`;
    case "pipe": {
      // `preprocess` begins with a check of what the schema behind it takes.
      const isChecked = definitionOf(definition.in).type === "transform";
      return inner(printing.direction === "input" && !isChecked ? definition.in : definition.out);
    }
    case "optional": {
      const type = inner(definition.innerType);
      return /^unknown$|\| undefined$/.test(type) ? type : `${type} | undefined`;
    }
    case "default":
      return inner(definition.innerType) + (printing.direction === "input" ? " | undefined" : "");
    default:
      throw new UnprintableTypeError(definition.type);
  }
}

const arrayOf = (item: string): string => (item.includes(" ") ? `(${item})[]` : `${item}[]`);

function printObject(shape: z.core.$ZodShape, { indent, ...printing }: Printing): string {
  const deeper = `${indent}  `;
  const fields = Object.entries(shape).map(([name, field]) => {
    const { optin, optout } = field._zod;
    const isOptional = printing.direction === "input" ? optin !== undefined : optout === "optional";
    const type = print(field, { ...printing, indent: deeper });
    const doc = describe(field);
    const comment = doc === null ? "" : `${deeper}/** ${doc} */\n`;
    return `${comment}${deeper}readonly ${name}${isOptional ? "?" : ""}: ${type};\n`;
  });
  return `{\n${fields.join("")}${indent}}`;
}

function describe(field: z.core.$ZodType): string | null {
  const { description, format } = z.globalRegistry.get(field) ?? {};
  if (description !== undefined) return description.replaceAll("*/", "*\\/");
  if (format === "date-time") return "ISO 8601.";
  const definition = definitionOf(field);
  return definition.type === "optional" || definition.type === "default"
    ? describe(definition.innerType)
    : null;
}

const INFERRED_TYPE = /^export type (\w+) = z\.(infer|input)<typeof (\w+)>;/gm;
const SCHEMA_IMPORT = /^import \{[^}]*\} from "((?:\.|@atrium\/contract\/)[^"]+\.ts)";/gm;
/** Docstrings of the service cite its contract, which readers of the package do not have. */
const CITATION = /\s*\((?:spec|decisions) section[^)]*\)/g;

export interface NamedType {
  readonly file: string;
  readonly name: string;
  readonly schema: z.core.$ZodType;
  readonly direction: Direction;
  readonly doc: string | null;
}

/** The types that modules of schemas export. */
export class PlainTypes {
  readonly #files = new Map<string, readonly NamedType[]>();
  readonly #outputs = new Map<z.core.$ZodType, NamedType>();

  /** The module as declarations; null when it infers no types from schemas. */
  async print(file: string): Promise<string | null> {
    const types = await this.load(file);
    if (types.length === 0) return null;
    const imports = new Map<string, Set<string>>();
    const nameOf = (schema: z.core.$ZodType, { schema: printed, direction }: NamedType): string | null => {
      const known = schema === printed ? null : this.#find(schema);
      // Objects with defaults are named after their output form.
      if (known === null || (direction === "input" && definitionOf(schema).type === "object")) return null;
      if (known.file !== file)
        imports.set(known.file, (imports.get(known.file) ?? new Set()).add(known.name));
      return known.name;
    };
    const declarations = types.flatMap((type) => declare(type, (schema) => nameOf(schema, type)) ?? []);
    const importLines = [...imports].map(
      ([target, names]) =>
        `import type { ${[...names].join(", ")} } from "${target.startsWith(CONTRACT) ? target : relative(file, target)}";\n`,
    );
    return [...importLines, ...declarations].join("\n");
  }

  /** Loads the modules of schemas that the module imports, then itself: their types are referred to by name. */
  async load(file: string): Promise<readonly NamedType[]> {
    const known = this.#files.get(file);
    if (known !== undefined) return known;
    this.#files.set(file, []);
    const source = await readFile(sourceOf(file), "utf8");
    const inferred = [...source.matchAll(INFERRED_TYPE)];
    if (inferred.length === 0) return [];
    for (const [, target = ""] of source.matchAll(SCHEMA_IMPORT)) await this.load(moduleOf(file, target));
    const module: Record<string, unknown> = await import(pathToFileURL(sourceOf(file)).href);
    const types = inferred.flatMap(([, name = "", kind, schemaName = ""]): NamedType | [] => {
      const schema = module[schemaName];
      const direction = kind === "input" ? "input" : "output";
      if (!(schema instanceof z.core.$ZodType)) return []; // types of private schemas are the service's own
      return { file, name, schema, direction, doc: docOf(source, name, schemaName) };
    });
    for (const type of types) if (type.direction === "output") this.#outputs.set(type.schema, type);
    this.#files.set(file, types);
    return types;
  }

  #find(schema: z.core.$ZodType): NamedType | null {
    return findOf(this.#outputs, schema);
  }
}

/** The knowledge of a schema: `.meta()` makes a copy whose parent is the original. */
export function findOf<Known>(
  known: ReadonlyMap<z.core.$ZodType, Known>,
  schema: z.core.$ZodType,
): Known | null {
  for (let each: z.core.$ZodType | undefined = schema; each !== undefined; each = each._zod.parent) {
    const found = known.get(each);
    if (found !== undefined) return found;
  }
  return null;
}

/** The docstring above a type or, where it has none of its own, above its schema. */
function docOf(source: string, name: string, schemaName: string): string | null {
  for (const declaration of [`export type ${name} `, `export const ${schemaName} `]) {
    const [, doc] = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\n${declaration}`).exec(source) ?? [];
    if (doc !== undefined)
      return doc.replaceAll(/\n \*/g, "").replaceAll(CITATION, "").replaceAll(/\s+/g, " ").trim();
  }
  return null;
}

function relative(from: string, to: string): string {
  const specifier = path.relative(path.dirname(from), to);
  return specifier.startsWith(".") ? specifier : `./${specifier}`;
}

/** Null for a type without a plain form, such as a query whose texts are transformed. */
function declare({ name, schema, direction, doc }: NamedType, nameOf: NameOf): string | null {
  let type: string;
  try {
    type = print(schema, { direction, nameOf, indent: "" });
  } catch (error) {
    if (error instanceof UnprintableTypeError) return null;
    throw error;
  }
  const comment = doc === null ? "" : `/** ${doc} */\n`;
  return definitionOf(schema).type === "object"
    ? `${comment}export interface ${name} ${type}\n`
    : `${comment}export type ${name} = ${type};\n`;
}
