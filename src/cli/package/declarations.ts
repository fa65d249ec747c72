/** Writes the declarations of the package and of workflows. Types that zod schemas infer are printed without zod. */

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "zod";

const SPECIFIER = /(\bfrom |\bimport\(|\bimport )"([^"]+)"/g;

interface DeclarationOptions {
  /** The folder of the compiler's declarations of `src`. */
  readonly emitted: string;
  /** The folder to write to; files keep their paths below `src`. */
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
    const declaration = file.replace(/\.tsx?$/, ".d.ts");
    const text = (await plainTypes.print(file)) ?? (await readFile(path.join(emitted, declaration), "utf8"));
    for (const [, , specifier = ""] of text.matchAll(SPECIFIER)) {
      if (specifier.startsWith(".")) reached.add(path.join(path.dirname(file), specifier));
      else if (!packages.some((name) => specifier === name || specifier.startsWith(`${name}/`)))
        throw new Error(`${file} declares types of "${specifier}", which the package does not depend on.`);
    }
    texts.set(file, text);
    const target = path.join(outdir, declaration);
    await mkdir(path.dirname(target), { recursive: true });
    // As compilers before TypeScript 5 expect it.
    await writeFile(target, text.replaceAll(/"(\.[^"]+)\.tsx?"/g, '"$1.js"'));
  }
  for (const [file, text] of texts)
    for (const [name, from] of importsOf(text)) {
      const target = path.join(path.dirname(file), from);
      if (!new RegExp(`\\b${name}\\b`).test(texts.get(target) ?? ""))
        throw new Error(
          `${file} needs the type ${name}, which ${target} does not export or has no plain form of.`,
        );
    }
}

/** The names that declarations import from each other. */
function* importsOf(text: string): Generator<readonly [name: string, from: string]> {
  for (const [, names = "", from = ""] of text.matchAll(/\{([^}]*)\} from "(\.[^"]+)"/g))
    for (const [, name = ""] of names.matchAll(/(?:^|,)\s*(?:type )?(\w+)/g)) yield [name, from];
  for (const [, alias, from = ""] of text.matchAll(/\* as (\w+) from "(\.[^"]+)"/g))
    for (const [, name = ""] of text.matchAll(new RegExp(`\\b${alias}\\.(\\w+)`, "g"))) yield [name, from];
}

const SRC = path.join(import.meta.dirname, "../..");
const SCHEMAS = ["wire/room.ts", "wire/user.ts", "wire/file.ts", "wire/events.ts"];

export async function workflowDeclarations(): Promise<string> {
  const plainTypes = new PlainTypes();
  const printed = await Promise.all(SCHEMAS.map((file) => plainTypes.print(file)));
  const bindings = await readFile(path.join(SRC, "sandbox/guest/types.ts"), "utf8");
  return [...printed, bindings].join("\n");
}

type Direction = "input" | "output";

type NameOf = (schema: z.core.$ZodType) => string | null;

interface Printing {
  readonly direction: Direction;
  readonly nameOf: NameOf;
  readonly indent: string;
}

const definitionOf = (schema: z.core.$ZodType) => (schema as z.core.$ZodTypes)._zod.def;

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
    case "optional":
      return `${inner(definition.innerType)} | undefined`;
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
  return format === "date-time" ? "ISO 8601." : null;
}

const INFERRED_TYPE = /^export type (\w+) = z\.(infer|input)<typeof (\w+)>;/gm;
const SCHEMA_IMPORT = /^import \{[^}]*\} from "(\.[^"]+\.ts)";/gm;
/** Docstrings of the service cite its contract, which readers of the package do not have. */
const CITATION = /\s*\((?:spec|decisions) section[^)]*\)/g;

interface NamedType {
  readonly file: string;
  readonly name: string;
  readonly schema: z.core.$ZodType;
  readonly direction: Direction;
  readonly doc: string | null;
}

/** The types that modules of schemas export. Files are paths below `src`, such as `features/rooms/schema.ts`. */
class PlainTypes {
  readonly #files = new Map<string, readonly NamedType[]>();
  readonly #outputs = new Map<z.core.$ZodType, NamedType>();

  /** The module as declarations; null when it infers no types from schemas. */
  async print(file: string): Promise<string | null> {
    const types = await this.#load(file);
    if (types.length === 0) return null;
    const imports = new Map<string, Set<string>>();
    const nameOf = (schema: z.core.$ZodType, { schema: printed, direction }: NamedType): string | null => {
      const known = schema === printed ? null : this.#find(schema);
      // Objects with defaults are named after what the service makes of them.
      if (known === null || (direction === "input" && definitionOf(schema).type === "object")) return null;
      if (known.file !== file)
        imports.set(known.file, (imports.get(known.file) ?? new Set()).add(known.name));
      return known.name;
    };
    const declarations = types.flatMap((type) => declare(type, (schema) => nameOf(schema, type)) ?? []);
    const importLines = [...imports].map(
      ([target, names]) => `import type { ${[...names].join(", ")} } from "${specifier(file, target)}";\n`,
    );
    return [...importLines, ...declarations].join("\n");
  }

  /** Loads the module and, first, the modules of schemas that it imports: their types are referred to by name. */
  async #load(file: string): Promise<readonly NamedType[]> {
    const known = this.#files.get(file);
    if (known !== undefined) return known;
    this.#files.set(file, []);
    const source = await readFile(path.join(SRC, file), "utf8");
    const inferred = [...source.matchAll(INFERRED_TYPE)];
    if (inferred.length === 0) return [];
    for (const [, target = ""] of source.matchAll(SCHEMA_IMPORT))
      await this.#load(path.join(path.dirname(file), target));
    const module: Record<string, unknown> = await import(pathToFileURL(path.join(SRC, file)).href);
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

  /** `.meta()` makes a copy of a schema whose parent is the original. */
  #find(schema: z.core.$ZodType): NamedType | null {
    for (let each: z.core.$ZodType | undefined = schema; each !== undefined; each = each._zod.parent) {
      const known = this.#outputs.get(each);
      if (known !== undefined) return known;
    }
    return null;
  }
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

function specifier(from: string, to: string): string {
  const relative = path.relative(path.dirname(from), to);
  return relative.startsWith(".") ? relative : `./${relative}`;
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
