/** The endpoints for identities. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { dates, scrolling, scrollShape, searching, sorting, toPage } from "../../http/lists.ts";
import { Group, Identity } from "../../wire/identity.ts";
import { createIdentity, deleteIdentity, type IdentityContext, updateIdentity } from "./commands.ts";
import { getIdentity, listGroupsOf, listIdentities, listRoomsOf } from "./queries.ts";
import { IdentityCreation, IdentityUpdate, pendingRooms, RoomOfIdentity } from "./schema.ts";
import { MAX_GROUPS } from "./table.ts";

const { endpoint } = endpointsFor<IdentityContext>({ module: "Identities" });

const { parameter: sort, orderOf } = sorting("Identities", "created_at", "name");

const TAKEN = [
  "Another identity has the `customId`.",
  "Read that identity by its `customId`, or send another one.",
] as const;

export const identityEndpoints = [
  endpoint({
    method: "GET",
    path: "/identities",
    operation: "listIdentities",
    summary: "List identities",
    details: "Newest first, or in the order of `sort`.",
    query: z.object({
      ...scrolling,
      ...sort,
      ...searching("the identity's name or at the start of its ID"),
      ...dates,
      kind: z
        .string()
        .regex(
          /^(person|agent|guest)(,(person|agent|guest)){0,2}$/,
          "must be person, agent or guest, or several of them",
        )
        .optional()
        .meta({
          description: "Only identities of this kind, or of several ones: `person,agent` leaves guests out.",
          example: "person,agent",
        }),
    }),
    done: "Identities retrieved",
    data: z.object({ identities: z.array(Identity), ...scrollShape }),
    handle: (ctx, { query }) => listIdentities(ctx, toPage(query, orderOf(query)), query.kind),
  }),
  endpoint({
    method: "POST",
    path: "/identities",
    operation: "createIdentity",
    summary: "Create an identity",
    details: "An end user of yours in all rooms, or an agent. Only the link of a room makes guests.",
    conflict: TAKEN,
    body: IdentityCreation,
    status: 201,
    done: "Identity created",
    data: z.object({ identity: Identity }),
    audit: { resource: "identity", created: ({ identity }) => identity.id, shows: ["kind"] },
    handle: (ctx, { body }) => createIdentity(ctx, body),
  }),
  endpoint({
    method: "GET",
    path: "/identities/custom/:customId",
    operation: "getIdentityByCustomId",
    summary: "Get an identity by its custom ID",
    details: "The response is the same as by the identity's ID.",
    errors: ["NOT_FOUND"],
    done: "Identity retrieved",
    data: z.object({ identity: Identity }),
    handle: (ctx, { params }) => getIdentity(ctx, { customId: params.customId }),
  }),
  endpoint({
    method: "GET",
    path: "/identities/:identityId",
    operation: "getIdentity",
    summary: "Get an identity",
    details: "With its address, which only the organization sees.",
    errors: ["NOT_FOUND"],
    done: "Identity retrieved",
    data: z.object({ identity: Identity }),
    handle: (ctx, { params }) => getIdentity(ctx, { id: params.identityId }),
  }),
  endpoint({
    method: "PATCH",
    path: "/identities/:identityId",
    operation: "updateIdentity",
    summary: "Update an identity",
    details: "Absent fields stay as they are, and `null` removes a field.",
    errors: ["NOT_FOUND"],
    conflict: TAKEN,
    body: IdentityUpdate,
    done: "Identity updated",
    data: z.object({ identity: Identity }),
    audit: { resource: "identity", id: ({ params }) => params.identityId },
    handle: (ctx, { params, body }) => updateIdentity(ctx, params.identityId, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/identities/:identityId",
    operation: "deleteIdentity",
    summary: "Delete an identity",
    details: "Its name, picture and address are erased, and it leaves its groups.",
    errors: ["NOT_FOUND"],
    done: "Identity deleted",
    data: z.object(pendingRooms),
    audit: { resource: "identity", id: ({ params }) => params.identityId },
    handle: (ctx, { params }) => deleteIdentity(ctx, params.identityId),
  }),
  endpoint({
    method: "GET",
    path: "/identities/:identityId/groups",
    operation: "listIdentityGroups",
    summary: "List the groups of an identity",
    details: `All of them, by name: at most ${MAX_GROUPS}.`,
    errors: ["NOT_FOUND"],
    done: "Groups retrieved",
    data: z.object({ groups: z.array(Group) }),
    handle: (ctx, { params }) => listGroupsOf(ctx, params.identityId),
  }),
  endpoint({
    method: "GET",
    path: "/identities/:identityId/rooms",
    operation: "listIdentityRooms",
    summary: "List the rooms of an identity",
    details: "The rooms in which it has a user, those first where it came last.",
    errors: ["NOT_FOUND"],
    query: z.object(scrolling),
    done: "Rooms retrieved",
    data: z.object({
      rooms: z.array(RoomOfIdentity),
      ...scrollShape,
    }),
    handle: (ctx, { params, query }) => listRoomsOf(ctx, params.identityId, toPage(query), ctx.now()),
  }),
];
