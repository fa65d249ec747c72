/** The endpoints for identities, groups and their members. */
import { decodeJwt } from "jose";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import type { Replay } from "../../http/idempotency/receipt.ts";
import { dates, scrolling, scrollShape, searching, sorting, toPage } from "../../http/lists.ts";
import { Group, Identity } from "../../wire/identity.ts";
import { IdentityClaims } from "../../wire/token-claims.ts";
import {
  addMember,
  createGroup,
  createIdentity,
  deleteGroup,
  deleteIdentity,
  type IdentityContext,
  removeMember,
  updateGroup,
  updateIdentity,
} from "./commands.ts";
import { createIdentityToken, endIdentityTokens, identify } from "./identify.ts";
import {
  getGroup,
  getIdentity,
  listGroups,
  listGroupsOf,
  listIdentities,
  listMembers,
  listRoomsOf,
} from "./queries.ts";
import {
  GroupCreation,
  GroupMember,
  GroupUpdate,
  Identification,
  Identified,
  IdentityCreation,
  IdentityToken,
  IdentityTokenCreation,
  IdentityUpdate,
  pendingRooms,
  RoomOfIdentity,
} from "./schema.ts";
import { MAX_GROUPS } from "./table.ts";

const { endpoint } = endpointsFor<IdentityContext>({ module: "Identities" });

const { parameter: sort, orderOf } = sorting("Identities", "created_at", "name");

const taken = (what: "identity" | "group") =>
  [
    `Another ${what} has the \`customId\`.`,
    `Read that ${what} by its \`customId\`, or send another one.`,
  ] as const;

const ofIdentities = [
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
    }),
    done: "Identities retrieved",
    data: z.object({ identities: z.array(Identity), ...scrollShape }),
    handle: (ctx, { query }) => listIdentities(ctx, toPage(query, orderOf(query))),
  }),
  endpoint({
    method: "POST",
    path: "/identities",
    operation: "createIdentity",
    summary: "Create an identity",
    details: "An end user of yours in all rooms, or an agent. Only the link of a room makes guests.",
    conflict: taken("identity"),
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
    conflict: taken("identity"),
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

/** The receipt keeps the token's claims, from which the same token is signed again. */
const SIGN_AGAIN: Replay<IdentityContext> = {
  keep: (data) => {
    const { token, ...rest } = z.looseObject({ token: z.string() }).parse(data);
    return { ...rest, claims: IdentityClaims.parse(decodeJwt(token)) };
  },
  restore: async (ctx, kept) => {
    const { claims, ...rest } = z.looseObject({ claims: IdentityClaims }).parse(kept);
    return { ...rest, token: await ctx.tokens.signIdentity(claims) };
  },
};

const ofTokens = [
  endpoint({
    method: "POST",
    path: "/identify",
    operation: "identify",
    summary: "Identify an end user",
    details:
      "Creates or updates the identity of your `customId`, and returns a token that opens every room as far as the identity has access there. Call it when a user signs in, and again before the token expires.",
    replay: SIGN_AGAIN,
    body: Identification,
    done: "Identified",
    data: Identified,
    audit: { resource: "identity", id: ({ body }) => body.customId, onlyCommitted: true },
    handle: (ctx, { body }) => identify(ctx, body),
  }),
  endpoint({
    method: "POST",
    path: "/identities/:identityId/tokens",
    operation: "createIdentityToken",
    summary: "Create a token of an identity",
    details: "A token as from `POST /identify`. It is not stored. Signed-in members get at most an hour.",
    errors: ["NOT_FOUND"],
    replay: SIGN_AGAIN,
    body: IdentityTokenCreation,
    status: 201,
    done: "Token created",
    data: IdentityToken,
    handle: (ctx, { params, body }) => createIdentityToken(ctx, params.identityId, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/identities/:identityId/tokens",
    operation: "endIdentityTokens",
    summary: "End the tokens of an identity",
    details:
      "Refuses all tokens of the identity and of its users so far, and closes the sockets that joined with them (`authFailed`, 4401).",
    errors: ["NOT_FOUND"],
    done: "Tokens ended",
    data: z.object(pendingRooms),
    audit: { resource: "identity", id: ({ params }) => params.identityId },
    handle: (ctx, { params }) => endIdentityTokens(ctx, params.identityId),
  }),
];

const ofGroups = [
  endpoint({
    method: "GET",
    path: "/groups",
    operation: "listGroups",
    summary: "List groups",
    details: "Newest first, or in the order of `sort`.",
    query: z.object({
      ...scrolling,
      ...sort,
      ...searching("the group's name or at the start of its ID"),
      ...dates,
    }),
    done: "Groups retrieved",
    data: z.object({ groups: z.array(Group), ...scrollShape }),
    handle: (ctx, { query }) => listGroups(ctx, toPage(query, orderOf(query))),
  }),
  endpoint({
    method: "POST",
    path: "/groups",
    operation: "createGroup",
    summary: "Create a group",
    details: "A set of identities, such as a team.",
    conflict: taken("group"),
    body: GroupCreation,
    status: 201,
    done: "Group created",
    data: z.object({ group: Group }),
    audit: { resource: "group", created: ({ group }) => group.id, shows: ["name"] },
    handle: (ctx, { body }) => createGroup(ctx, body),
  }),
  endpoint({
    method: "GET",
    path: "/groups/custom/:customId",
    operation: "getGroupByCustomId",
    summary: "Get a group by its custom ID",
    details: "The response is the same as by the group's ID.",
    errors: ["NOT_FOUND"],
    done: "Group retrieved",
    data: z.object({ group: Group }),
    handle: (ctx, { params }) => getGroup(ctx, { customId: params.customId }),
  }),
  endpoint({
    method: "GET",
    path: "/groups/:groupId",
    operation: "getGroup",
    summary: "Get a group",
    details: "Its members are a list of their own.",
    errors: ["NOT_FOUND"],
    done: "Group retrieved",
    data: z.object({ group: Group }),
    handle: (ctx, { params }) => getGroup(ctx, { id: params.groupId }),
  }),
  endpoint({
    method: "PATCH",
    path: "/groups/:groupId",
    operation: "updateGroup",
    summary: "Update a group",
    details: "Absent fields stay as they are, and `null` removes the `customId`.",
    errors: ["NOT_FOUND"],
    conflict: taken("group"),
    body: GroupUpdate,
    done: "Group updated",
    data: z.object({ group: Group }),
    audit: { resource: "group", id: ({ params }) => params.groupId, shows: ["name"] },
    handle: (ctx, { params, body }) => updateGroup(ctx, params.groupId, body),
  }),
  endpoint({
    method: "DELETE",
    path: "/groups/:groupId",
    operation: "deleteGroup",
    summary: "Delete a group",
    details: "Its members stay identities.",
    errors: ["NOT_FOUND"],
    done: "Group deleted",
    data: z.object(pendingRooms),
    audit: { resource: "group", id: ({ params }) => params.groupId },
    handle: (ctx, { params }) => deleteGroup(ctx, params.groupId),
  }),
  endpoint({
    method: "GET",
    path: "/groups/:groupId/members",
    operation: "listGroupMembers",
    summary: "List the members of a group",
    details: "Those first who were added last.",
    errors: ["NOT_FOUND"],
    query: z.object(scrolling),
    done: "Members retrieved",
    data: z.object({ members: z.array(GroupMember), ...scrollShape }),
    handle: (ctx, { params, query }) => listMembers(ctx, params.groupId, toPage(query)),
  }),
  endpoint({
    method: "PUT",
    path: "/groups/:groupId/members/:identityId",
    operation: "addGroupMember",
    summary: "Add an identity to a group",
    details: "A member stays one.",
    errors: ["NOT_FOUND"],
    conflict: [`The identity is in ${MAX_GROUPS} groups already.`, "Take it out of a group first."],
    done: "Member added",
    data: z.object(pendingRooms),
    audit: {
      resource: "group",
      id: ({ params }) => params.groupId,
      detail: ({ params }) => ({ identityId: params.identityId }),
    },
    handle: (ctx, { params }) => addMember(ctx, params.groupId, params.identityId),
  }),
  endpoint({
    method: "DELETE",
    path: "/groups/:groupId/members/:identityId",
    operation: "removeGroupMember",
    summary: "Take an identity out of a group",
    details: "The identity stays.",
    errors: ["NOT_FOUND"],
    done: "Member removed",
    data: z.object(pendingRooms),
    audit: {
      resource: "group",
      id: ({ params }) => params.groupId,
      detail: ({ params }) => ({ identityId: params.identityId }),
    },
    handle: (ctx, { params }) => removeMember(ctx, params.groupId, params.identityId),
  }),
];

export const identityEndpoints = [...ofIdentities, ...ofTokens, ...ofGroups];
