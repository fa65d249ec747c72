/** The endpoints for groups and their members. */

import { Group } from "@atrium/contract/resources/identity.ts";
import {
  GroupCreation,
  GroupMember,
  GroupUpdate,
  MAX_GROUPS,
  pendingRooms,
} from "@atrium/contract/rest/identities.ts";
import { dates, scrollShape, searching } from "@atrium/contract/rest/lists.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { scrolling, sorting, toPage } from "../../http/lists.ts";
import {
  addMember,
  createGroup,
  deleteGroup,
  type IdentityContext,
  removeMember,
  updateGroup,
} from "./commands.ts";
import { getGroup, listGroups, listMembers } from "./queries.ts";

const { endpoint } = endpointsFor<IdentityContext>({ module: "Identities" });

const { parameter: sort, orderOf } = sorting("Identities", "created_at", "name");

const TAKEN = [
  "Another group has the `customId`.",
  "Read that group by its `customId`, or send another one.",
] as const;

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/groups",
    operation: "listGroups",
    sdk: "groups.list(filter?: Search): data",
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
    isForAgents: false,
    sdk: "groups.create(group): group",
    summary: "Create a group",
    details: "A set of identities, such as a team.",
    conflict: TAKEN,
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
    sdk: "groups.getByCustomId(customId): group",
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
    sdk: "groups.get(groupId): group",
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
    isForAgents: false,
    sdk: "groups.update(groupId, changes): group",
    summary: "Update a group",
    details: "Absent fields stay as they are, and `null` removes the `customId`.",
    errors: ["NOT_FOUND"],
    conflict: TAKEN,
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
    isForAgents: false,
    sdk: "groups.delete(groupId)",
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
    sdk: "groups.listMembers(groupId, part?: Scroll): data",
    summary: "List the members of a group",
    details: "The members who were added last come first.",
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
    isForAgents: false,
    sdk: "groups.addMember(groupId, identityId)",
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
    isForAgents: false,
    sdk: "groups.removeMember(groupId, identityId)",
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
