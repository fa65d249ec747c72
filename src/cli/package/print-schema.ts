/** Prints a zod schema as the TypeScript type of what it accepts or returns. */
import * as z from "zod";

export type Direction = "input" | "output";

export type NameOf = (schema: z.core.$ZodType) => string | null;

interface Printing {
  readonly direction: Direction;
  readonly nameOf: NameOf;
  readonly indent: string;
}

/** The schema's definition as a union that `type` discriminates. */
export const definitionOf = (schema: z.core.$ZodType) => (schema as z.core.$ZodTypes)._zod.def;

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
    case "record":
      return `Record<${inner(definition.keyType)}, ${inner(definition.valueType)}>`;
    case "union":
      return definition.options.map(inner).join(" | ");
    case "nullable":
      return `${inner(definition.innerType)} | null`;
    case "pipe":
      return inner(printing.direction === "input" ? definition.in : definition.out);
    case "optional":
      return `${inner(definition.innerType)} | undefined`;
    case "default":
      return inner(definition.innerType) + (printing.direction === "input" ? " | undefined" : "");
    default:
      throw new Error(`plain-types.ts cannot print a schema of the type "${definition.type}" yet.`);
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
