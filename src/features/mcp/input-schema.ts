/** Makes one schema of all that an operation takes: parameters of the path and the query, and the fields of its body. */
import {
  type Entry,
  jsonOf,
  nameOfRef,
  resolve,
  type Schema,
  type Schemas,
} from "../../http/openapi/described.ts";

/** The parameter that the credential of the request decides. */
const ACCOUNT = "accountId";
/** The argument that is the whole body of an operation whose body is no object with known fields. */
export const WHOLE_BODY = "body";

/** Where each argument of an operation goes, and the schema of all of them. */
export interface OperationInput {
  readonly path: ReadonlySet<string>;
  readonly query: ReadonlySet<string>;
  readonly body: ReadonlySet<string>;
  /** Whether the body is the argument {@link WHOLE_BODY}, and not an object of arguments. */
  readonly isBodyWhole: boolean;
  readonly schema: Schema;
}

/** Throws for an operation that names two arguments alike: one of the API's tests makes all of them. */
export function inputOf(schemas: Schemas, { operation }: Entry): OperationInput {
  const parameters = (operation.parameters ?? []).filter(({ name, in: place }) =>
    place === "path" ? name !== ACCOUNT : place === "query",
  );
  const given = jsonOf(operation.requestBody);
  const isBodyWhole = given !== undefined && resolve(schemas, given).properties === undefined;
  const body: Schema = isBodyWhole
    ? { properties: { [WHOLE_BODY]: given }, required: [WHOLE_BODY] }
    : resolve(schemas, given ?? {});
  const bodyFields = Object.entries(body.properties ?? {});
  const clash = bodyFields.find(([field]) => parameters.some(({ name }) => name === field));
  if (clash !== undefined) throw new Error(`${operation.operationId} takes ${clash[0]} twice`);
  const namesIn = (place: string) =>
    new Set(parameters.flatMap((parameter) => (parameter.in === place ? parameter.name : [])));
  const properties = [
    ...parameters.map(({ name, description, schema = {} }) => {
      const inlined = inline(schemas, schema);
      return [name, description === undefined ? inlined : { ...inlined, description }] as const;
    }),
    ...bodyFields.map(([name, schema]) => [name, inline(schemas, schema)] as const),
  ];
  return {
    path: namesIn("path"),
    query: namesIn("query"),
    body: new Set(bodyFields.map(([name]) => name)),
    isBodyWhole,
    schema: {
      type: "object",
      properties: Object.fromEntries(properties),
      required: [
        ...parameters.flatMap(({ name, required }) => (required === true ? name : [])),
        ...(body.required ?? []),
      ],
    },
  };
}

/** The schema without references and examples: a tool has to explain itself, and in few words. */
function inline(schemas: Schemas, schema: Schema, within: readonly string[] = []): Schema {
  if (schema.$ref !== undefined) {
    const name = nameOfRef(schema.$ref);
    return within.includes(name) ? {} : inline(schemas, schemas[name] ?? {}, [...within, name]);
  }
  const { example: _, examples: __, properties, items, anyOf, oneOf, ...rest } = schema;
  const inner = (part: Schema) => inline(schemas, part, within);
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, inner(part)])),
    }),
    ...(items && { items: inner(items) }),
    ...(anyOf && { anyOf: anyOf.map(inner) }),
    ...(oneOf && { oneOf: oneOf.map(inner) }),
  };
}
