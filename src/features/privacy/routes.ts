/** The endpoints that export and erase the personal data of a user or an identity. */

import { pendingRooms } from "@atrium/contract/rest/identities.ts";
import { ExportRequest, IdentityData, PersonalData, PersonDeletion } from "@atrium/contract/rest/privacy.ts";
import { InRoom } from "@atrium/contract/rest/users.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { personEndpoint } from "../people/context.ts";
import { deleteMe, eraseIdentity, erasePersonalData } from "./commands.ts";
import { exportMe } from "./person-queries.ts";
import {
  decodeExportPosition,
  decodeIdentityPosition,
  getIdentityData,
  getPersonalData,
  type PrivacyContext,
} from "./queries.ts";

const { endpoint } = endpointsFor<PrivacyContext>({ module: "Users" });

const MAX_CURSOR_LENGTH = 1024;

/** The position behind an earlier page, or the first one. */
const after = <Position>(example: string, decode: (cursor: string | undefined) => Position | null) =>
  z
    .string()
    .max(MAX_CURSOR_LENGTH)
    .optional()
    .transform((value, context) => {
      const position = decode(value);
      if (position === null)
        context.addIssue("must be the `cursor` of an earlier page; leave it out to start at the first");
      return position ?? z.NEVER;
    })
    .meta({
      description: "The `cursor` of an earlier page: what follows it.",
      override: { type: "string", maxLength: MAX_CURSOR_LENGTH, example },
    });

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/users/:userId/personal-data",
    operation: "getPersonalData",
    sdk: "users.eachRecord(roomId, userId): each records",
    summary: "Export what is kept of a user",
    details:
      "Page by page, until `cursor` is null. It also finds what is left of a user who was deleted. Stores and the contents of documents are the room's: they do not say who wrote what.",
    errors: ["NOT_FOUND"],
    query: InRoom.extend({ after: after("WyJzZXNzaW9ucyIsbnVsbF0", decodeExportPosition) }),
    done: "Personal data retrieved",
    data: PersonalData,
    handle: (ctx, { params, query }) => getPersonalData(ctx, query.roomId, params.userId, query.after),
  }),
  endpoint({
    method: "DELETE",
    path: "/users/:userId/personal-data",
    operation: "erasePersonalData",
    sdk: "users.erase(roomId, userId)",
    summary: "Delete a user with what is kept of it",
    details:
      "Deletes the user as `DELETE /users/:userId` does, and erases what names the user: sessions, comments, mentions, reactions, resolutions of threads, files, and in the event log the name, picture, custom ID, and texts. Only the ID stays, which leads to no one. Cannot be undone; repeating it is harmless, and also erases what an earlier deletion of the user left.",
    errors: ["NOT_FOUND"],
    query: InRoom,
    done: "Personal data erased",
    data: z.object({}),
    audit: { resource: "user", id: ({ params }) => params.userId },
    handle: (ctx, { params, query }) => erasePersonalData(ctx, query.roomId, params.userId),
  }),
  endpoint({
    method: "GET",
    path: "/identities/:identityId/personal-data",
    operation: "getIdentityData",
    sdk: "identities.eachRecord(identityId): each records",
    summary: "Export what is kept of an identity",
    details:
      "In all rooms, page by page, until `cursor` is null: the identity, its groups, its access, its events and its inbox, then room by room what is kept of its user there, and in which rooms it is mentioned. It also finds the users of an identity that was deleted.",
    errors: ["NOT_FOUND"],
    query: z.object({ after: after("WyJhY2Nlc3MiLCIiLG51bGxd", decodeIdentityPosition) }),
    done: "Personal data retrieved",
    data: IdentityData,
    handle: (ctx, { params, query }) => getIdentityData(ctx, params.identityId, query.after),
  }),
  endpoint({
    method: "DELETE",
    path: "/identities/:identityId/personal-data",
    operation: "eraseIdentityData",
    isForAgents: false,
    sdk: "identities.erase(identityId)",
    summary: "Delete an identity with what is kept of it",
    details:
      "Deletes the identity as `DELETE /identities/:identityId` does, then each of its users in all rooms as `DELETE /users/:userId/personal-data` does, and removes it from mentions in all other rooms. One request does 600 rooms; it answers `RATE_LIMITED` while more are left, and goes on when it is repeated. It also erases the users of an identity that was deleted.",
    errors: ["NOT_FOUND"],
    done: "Personal data erased",
    data: z.object(pendingRooms),
    audit: { resource: "identity", id: ({ params }) => params.identityId },
    handle: (ctx, { params }) => eraseIdentity(ctx, params.identityId),
  }),
];

export const personPrivacyEndpoints = [
  personEndpoint({
    method: "POST",
    path: "/me/export",
    body: ExportRequest,
    done: "Data exported",
    handle: (ctx, { body }) => exportMe(ctx, body.after),
  }),
  personEndpoint({
    method: "POST",
    path: "/me/delete",
    body: PersonDeletion,
    done: "Account deleted",
    handle: (ctx, { body }) => deleteMe(ctx, body),
  }),
];
