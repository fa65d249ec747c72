/** The endpoints of `/dashboard/api` by which a person exports what is kept of them, and deletes their account. */
import { personEndpoint } from "../../people/dashboard-endpoint.ts";
import { deleteMe } from "./commands.ts";
import { exportMe } from "./queries.ts";
import { ExportRequest, PersonDeletion } from "./schema.ts";

export const personPrivacyEndpoints = [
  personEndpoint({
    method: "POST",
    path: "/me/export",
    module: "Auth",
    body: ExportRequest,
    status: 200,
    done: "Data exported",
    handle: (ctx, { body }) => exportMe(ctx, body.after),
  }),
  personEndpoint({
    method: "POST",
    path: "/me/delete",
    module: "Auth",
    body: PersonDeletion,
    status: 200,
    done: "Account deleted",
    handle: (ctx, { body }) => deleteMe(ctx, body.password),
  }),
];
