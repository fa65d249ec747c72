/** The endpoints for access to rooms. */

import {
  AccessDecision,
  AccessQuestion,
  DefaultAccessUpdate,
  MAX_NAMED,
  RoomAccess,
  RoomAccessUpdate,
} from "@atrium/contract/rest/access.ts";
import { scrollShape } from "@atrium/contract/rest/lists.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { scrolling, toPage } from "../../http/lists.ts";
import type { RoomContext } from "../rooms/context.ts";
import { updateDefaultAccess, updateRoomAccess } from "./commands.ts";
import { checkRoomAccess, getDefaultAccess, getRoomAccess } from "./queries.ts";

const { endpoint } = endpointsFor<RoomContext>({ module: "Access" });

const OfDefault = RoomAccess.pick({ default_accesses: true });

const MAX_SHOWN = 5;

/** The change for the audit log: the permissions of the first entries, and how many others there are. */
function summaryOf(value: unknown): string {
  if (value === null) return "removed";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.join(" ") || "nothing";
  const entries = Object.entries(value);
  const shown = entries.slice(0, MAX_SHOWN).map(([id, access]) => `${id}: ${summaryOf(access)}`);
  return [...shown, ...(entries.length > MAX_SHOWN ? [`${entries.length - MAX_SHOWN} more`] : [])].join("; ");
}

const summariesOf = (body: object): Record<string, string> =>
  Object.fromEntries(Object.entries(body).map(([field, value]) => [field, summaryOf(value)]));

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/rooms/:roomId/access",
    operation: "getRoomAccess",
    sdk: "getRoomAccess(roomId, part?: Scroll): RoomAccess & ScrollShown",
    summary: "Get the access to a room",
    details:
      "The default is on each page. The pages have the entries of groups, then those of identities, each ordered by ID; `total` counts both.",
    errors: ["NOT_FOUND"],
    query: z.object(scrolling),
    done: "Access retrieved",
    data: RoomAccess.extend(scrollShape),
    handle: (ctx, { params, query }) => getRoomAccess(ctx, params.roomId, toPage(query)),
  }),
  endpoint({
    method: "PUT",
    path: "/rooms/:roomId/access",
    operation: "updateRoomAccess",
    isForAgents: false,
    sdk: "updateRoomAccess(roomId, changes): Partial<RoomAccess> & { readonly pending_rooms: number }",
    summary: "Change the access to a room",
    details: `Sets and removes the named entries, all or none of them, and leaves the others: at most ${MAX_NAMED} groups and identities in one request. \`VALIDATION_ERROR\` names a group or an identity that does not exist, and \`null\` is fine for it. It holds at once, for those who are online as well. Users without an identity are not concerned. \`FORBIDDEN\` above the quota of access entries.`,
    errors: ["NOT_FOUND"],
    body: RoomAccessUpdate,
    done: "Access changed",
    data: RoomAccess.partial().extend({
      pending_rooms: z.int().meta({
        description:
          "1 if the live room could not be reached: those who are online follow within a minute. Otherwise 0.",
        minimum: 0,
        example: 0,
      }),
    }),
    audit: {
      resource: "access",
      id: ({ params }) => params.roomId,
      detail: ({ body }) => summariesOf(body),
    },
    handle: (ctx, { params, body }) => updateRoomAccess(ctx, params.roomId, body),
  }),
  endpoint({
    method: "POST",
    path: "/rooms/:roomId/access/check",
    operation: "checkRoomAccess",
    sdk: "checkRoomAccess(roomId, identityId): data",
    summary: "Check what an identity may do in a room",
    details:
      "Says for each resource which entry decides. A token or a user's role can give less. Reading is all or nothing: any level above `none` reads the whole room.",
    errors: ["NOT_FOUND"],
    body: AccessQuestion,
    done: "Access checked",
    data: AccessDecision,
    handle: (ctx, { params, body }) => checkRoomAccess(ctx, params.roomId, body.identityId),
  }),
  endpoint({
    method: "GET",
    path: "/access/default",
    operation: "getDefaultAccess",
    sdk: "organization.getDefaultAccess(): default_accesses",
    summary: "Get the default access of new rooms",
    details: "Empty unless it was set: identities may not enter a new room then.",
    done: "Default access retrieved",
    data: OfDefault,
    handle: (ctx) => getDefaultAccess(ctx),
  }),
  endpoint({
    method: "PUT",
    path: "/access/default",
    operation: "updateDefaultAccess",
    isForAgents: false,
    right: "owner",
    sdk: 'organization.setDefaultAccess(defaultAccesses: NonNullable<RoomAccessInput["defaultAccesses"]>): default_accesses',
    summary: "Set the default access of new rooms",
    details:
      "Rooms that are created from now on begin with it; the others keep theirs. Only owners and API keys can do this.",
    body: DefaultAccessUpdate,
    done: "Default access set",
    data: OfDefault,
    audit: { resource: "access", detail: ({ body }) => summariesOf(body) },
    handle: (ctx, { body }) => updateDefaultAccess(ctx, body.defaultAccesses),
  }),
];
