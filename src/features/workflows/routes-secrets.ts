/** The REST endpoints of the secrets of workflows. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import type { WorkflowContext } from "./context.ts";
import { deleteSecret, listSecrets, setSecret } from "./secret-commands.ts";
import { SecretValue, WorkflowSecret } from "./secret-schema.ts";
import { MAX_SECRETS } from "./secret-store.ts";

const { endpoint } = endpointsFor<WorkflowContext>();

const common = { module: "Workflows", access: "organization", status: 200 } as const;
const SECRET_PATH = "/workflows/:workflowId/secrets/:secret";

export const workflowSecretEndpoints = [
  endpoint({
    ...common,
    method: "GET",
    path: "/workflows/:workflowId/secrets",
    operation: "listWorkflowSecrets",
    summary: "List the names of a workflow's secrets",
    details: "By name. No response ever contains a value.",
    errors: ["NOT_FOUND"],
    done: "Secrets retrieved",
    data: z.object({ secrets: z.array(WorkflowSecret) }),
    handle: (ctx, { params }) => listSecrets(ctx, params.workflowId),
  }),
  endpoint({
    ...common,
    method: "PUT",
    path: SECRET_PATH,
    operation: "setWorkflowSecret",
    summary: "Set a secret of a workflow",
    details: `Creates it, or replaces its value: every run that starts after the response reads it as \`env.NAME\`. The name has letters, digits and underscores. A workflow can have ${MAX_SECRETS} secrets; another one is a \`CONFLICT\`. The value is stored encrypted, and the log and the result of a run show \`***\` in its place.`,
    errors: ["NOT_FOUND", "CONFLICT"],
    body: SecretValue,
    done: "Secret set",
    data: z.object({ secret: WorkflowSecret }),
    audit: {
      resource: "workflow",
      id: ({ params }) => params.workflowId,
      detail: ({ params }) => ({ secret: params.secret }),
    },
    handle: (ctx, { params, body }) => setSecret(ctx, params.workflowId, params.secret, body.value),
  }),
  endpoint({
    ...common,
    method: "DELETE",
    path: SECRET_PATH,
    operation: "deleteWorkflowSecret",
    summary: "Delete a secret of a workflow",
    details:
      "Runs that start after the response do not have it. A secret that does not exist is `NOT_FOUND`.",
    errors: ["NOT_FOUND"],
    done: "Secret deleted",
    data: z.object({}),
    audit: {
      resource: "workflow",
      id: ({ params }) => params.workflowId,
      detail: ({ params }) => ({ secret: params.secret }),
    },
    handle: (ctx, { params }) => deleteSecret(ctx, params.workflowId, params.secret),
  }),
];
