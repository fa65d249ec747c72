/** The endpoints for identities. */

import { Group, Identity } from "@atrium/contract/resources/identity.ts";
import {
  IdentityCreation,
  IdentityUpdate,
  MAX_GROUPS,
  pendingRooms,
  RoomOfIdentity,
} from "@atrium/contract/rest/identities.ts";
import { dates, scrollShape, searching } from "@atrium/contract/rest/lists.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { scrolling, sorting, toPage } from "../../http/lists.ts";
import { createIdentity, deleteIdentity, type IdentityContext, updateIdentity } from "./commands.ts";
import { getIdentity, listGroupsOf, listIdentities, listRoomsOf } from "./queries.ts";

const { endpoint } = endpointsFor<IdentityContext>({ module: "Identities" });

const { parameter: sort, orderOf } = sorting("Identities", "created_at", "name");

const TAKEN = [
  "Another identity has the `customId`.",
  "Read that identity by its `customId`, or send another one.",
] as const;

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/identities",
    operation: "listIdentities",
    sdk: [
      "identities.list(filter?: IdentitySearch): data",
      "identities.each(filter?: IdentitySearch): each identities",
    ],
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
    isForAgents: false,
    sdk: "identities.create(identity): identity",
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
    sdk: "identities.getByCustomId(customId): identity",
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
    sdk: "identities.get(identityId): identity",
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
    isForAgents: false,
    sdk: "identities.update(identityId, changes): identity",
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
    isForAgents: false,
    sdk: "identities.delete(identityId)",
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
    sdk: "identities.listGroups(identityId): data",
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
    sdk: "identities.listRooms(identityId, part?: Scroll): data",
    summary: "List the rooms of an identity",
    details: "The rooms that the identity has joined, the most recent first.",
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
