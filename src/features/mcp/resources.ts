/** Rooms and their content as resources: each is what one operation reads, at `atrium:/` and the operation's path. */
import type { RequestContext } from "../../platform/context/context.ts";
import { notFound } from "../../platform/errors.ts";
import { type Arguments, type Callable, callOperation } from "./call-operation.ts";
import { RESOURCE_OPERATIONS } from "./groups.ts";

const JSON_TYPE = "application/json";
const PAGE = 50;

interface Template<C extends RequestContext> {
  readonly uriTemplate: string;
  readonly callable: Callable<C>;
}

/** The address of a room as a resource. */
const uriOfRoom = (roomId: string): string => `atrium://rooms/${roomId}`;

export class Resources<C extends RequestContext> {
  readonly #templates: readonly Template<C>[];
  readonly #listRooms: Callable<C>;

  constructor(callableOf: (operation: string) => Callable<C>) {
    this.#templates = RESOURCE_OPERATIONS.map((operation) => {
      const callable = callableOf(operation);
      return {
        uriTemplate: `atrium:/${callable.endpoint.path.replaceAll(/:(\w+)/g, "{$1}")}`,
        callable,
      };
    });
    this.#listRooms = callableOf("listRooms");
  }

  templates(): object {
    return {
      resourceTemplates: this.#templates.map(({ uriTemplate, callable: { endpoint } }) => ({
        ...{ uriTemplate, name: endpoint.operation, title: endpoint.summary, mimeType: JSON_TYPE },
      })),
    };
  }

  /** The rooms, newest first, in pages. */
  async list(ctx: C, cursor: unknown): Promise<object> {
    const offset = typeof cursor === "string" && /^\d{1,9}$/.test(cursor) ? Number(cursor) : 0;
    const args = { limit: PAGE, offset };
    const { rooms, total } = asRooms(await callOperation(ctx, this.#listRooms, args));
    const next = offset + rooms.length;
    return {
      resources: rooms.map(({ id, name, state, active_participants: online }) => ({
        ...{ uri: uriOfRoom(id), name, mimeType: JSON_TYPE },
        description: `A room that is ${state}, with ${online} users online`,
      })),
      ...(next < total && rooms.length > 0 && { nextCursor: String(next) }),
    };
  }

  /** What the operation behind a URI reads. */
  async read(ctx: C, uri: string): Promise<object> {
    for (const { uriTemplate, callable } of this.#templates) {
      const args = matchUri(uriTemplate, uri);
      if (args === null) continue;
      const data = await callOperation(ctx, callable, args);
      return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(data) }] };
    }
    throw notFound("Server", "Resource");
  }
}

/** The values of a template's variables; null when the URI has another form. */
function matchUri(template: string, uri: string): Arguments | null {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const values = new RegExp(`^${template.replaceAll(/\{\w+\}/g, "([^/?#]+)")}$`).exec(uri)?.slice(1);
  if (values === undefined) return null;
  try {
    return Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(values[index] ?? "")]));
  } catch {
    return null;
  }
}

interface ListedRooms {
  readonly rooms: readonly {
    readonly id: string;
    readonly name: string;
    readonly state: string;
    readonly active_participants: number;
  }[];
  readonly total: number;
}

/** What `listRooms` responds with. */
const asRooms = (data: object): ListedRooms => data as ListedRooms;
