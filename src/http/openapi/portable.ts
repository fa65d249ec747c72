/** Makes the document's schemas mean the same to every validator and generator. Pure. */

/** Calls `visit` with every object in a JSON value, the innermost first. */
function visitObjects(value: unknown, visit: (object: Record<string, unknown>) => void): void {
  if (typeof value !== "object" || value === null) return;
  for (const part of Object.values(value)) visitObjects(part, visit);
  if (!Array.isArray(value)) visit(value as Record<string, unknown>);
}

/**
 * Lets later versions add fields to a response. Beside a `$ref`, `additionalProperties: false` would even refuse every
 * value, because it does not see the fields of the schema that is referred to.
 */
export const openObjects = (schemas: unknown): void =>
  visitObjects(schemas, (schema) => {
    if (schema.additionalProperties === false) delete schema.additionalProperties;
  });

/** Says in words what a body's optional fields default to: generators take a `default` to mean that the field is always there. */
export const describeDefaults = (schemas: unknown): void =>
  visitObjects(schemas, (schema) => {
    if (schema.default === undefined) return;
    const said = `\`${JSON.stringify(schema.default)}\` by default.`;
    schema.description = [schema.description, said].filter(Boolean).join(" ");
    delete schema.default;
  });
