/** The tools that agents see: the operations of the API description, by what they are about and whether they change it. */
import {
  type Described,
  type Entry,
  entriesOf,
  formOf,
  isJson,
  type Schema,
} from "../../http/openapi/described.ts";
import { groupOf, isWithheld } from "./groups.ts";
import { inputOf, type OperationInput } from "./input-schema.ts";

/** An operation as an agent may call it. */
export interface ToolOperation {
  readonly entry: Entry;
  readonly input: OperationInput;
}

interface Tool {
  /** As `tools/list` shows it. */
  readonly shown: {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly inputSchema: Schema;
    readonly annotations: {
      readonly readOnlyHint: boolean;
      readonly destructiveHint: boolean;
      readonly openWorldHint: boolean;
    };
  };
  readonly operations: ReadonlyMap<string, ToolOperation>;
}

const ACCOUNT_PREFIX = /^\/v1\/accounts\/\{accountId\}/;

/** All tools by name. Made once: it walks the whole description. */
export function toolsOf(described: Described): ReadonlyMap<string, Tool> {
  const schemas = described.components?.schemas ?? {};
  const grouped = new Map<string, { readonly about: string; readonly entries: Entry[] }>();
  for (const entry of entriesOf(described)) {
    const { operation } = entry;
    // Sockets, uploads and the bytes of files are nothing for a tool.
    if (isWithheld(operation.operationId) || formOf(operation) !== undefined || !isJson(entry)) continue;
    const { group, about } = groupOf(entry.path.replace(ACCOUNT_PREFIX, ""));
    const name = `${entry.method === "get" ? "read" : "change"}_${group}`;
    const tool = grouped.get(name) ?? { about, entries: [] };
    tool.entries.push(entry);
    grouped.set(name, tool);
  }
  return new Map(
    [...grouped].map(([name, { about, entries }]) => {
      const operations = entries.map((entry) => ({ entry, input: inputOf(schemas, entry) }));
      return [name, toolOf(name, about, operations)];
    }),
  );
}

function toolOf(name: string, about: string, operations: readonly ToolOperation[]): Tool {
  const entries = operations.map(({ entry }) => entry);
  const lines = operations.map(
    ({ entry: { operation } }) => `- ${operation.operationId}: ${operation.summary}.`,
  );
  return {
    shown: {
      name,
      title: name.replace("_", " ").replace(/^./, (first) => first.toUpperCase()),
      description: [about, "Operations:", ...lines].join("\n"),
      inputSchema: {
        type: "object",
        properties: {
          operation: { type: "string", enum: entries.map(({ operation }) => operation.operationId) },
          arguments: { anyOf: operations.map(argumentsOf) },
        },
        required: ["operation"],
      },
      annotations: {
        readOnlyHint: name.startsWith("read_"),
        destructiveHint: entries.some(({ method }) => method === "delete"),
        openWorldHint: false,
      },
    },
    operations: new Map(operations.map((operation) => [operation.entry.operation.operationId, operation])),
  };
}

const argumentsOf = ({ entry: { operation }, input: { schema } }: ToolOperation): Schema => ({
  ...{ title: operation.operationId, description: operation.description ?? operation.summary },
  ...schema,
});
