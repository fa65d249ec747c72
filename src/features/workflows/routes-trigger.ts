/** The REST endpoints of the HTTP trigger and of the secrets of workflows. */

import {
  SecretValue,
  StartedExecution,
  TriggerPayload,
  WorkflowSecret,
  WorkflowWithSecret,
} from "@atrium/contract/rest/workflow-triggers.ts";
import { Workflow } from "@atrium/contract/rest/workflows.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { SHOWN_ONCE } from "../../http/idempotency/receipt.ts";
import type { WorkflowContext } from "./context.ts";
import { deleteSecret, listSecrets, setSecret } from "./secret-commands.ts";
import { MAX_SECRETS } from "./secret-store.ts";
import { removeTriggerSecret, rotateTriggerSecret, triggerWorkflow } from "./start-commands.ts";

const { endpoint } = endpointsFor<WorkflowContext>({ module: "Workflows" });

const common = { module: "Workflows", errors: ["NOT_FOUND"] } as const;

const ofTriggers = [
  endpoint({
    ...common,
    right: "signed",
    method: "POST",
    path: "/workflows/:workflowId/trigger",
    operation: "triggerWorkflow",
    sdk: "workflows.trigger(workflowId, payload: object): execution",
    summary: "Start a workflow by a request",
    details:
      "The workflow must have `httpTrigger`. It runs on `workflow.triggered`, with the body as `event.data.payload`; the response does not wait for it. Send an API key, or sign the request with the trigger's secret as Standard Webhooks defines it (`webhook-id`, `webhook-timestamp`, `webhook-signature`; at most 5 minutes old). A message that is repeated within 24 hours under the same `webhook-id`, or with the same `Idempotency-Key`, runs once and has the same execution.",
    body: TriggerPayload,
    status: 202,
    done: "Workflow triggered",
    data: z.object({ execution: StartedExecution }),
    handle: (ctx, { params, body, sent }) => triggerWorkflow(ctx, params.workflowId, body, sent),
  }),
  endpoint({
    ...common,
    method: "POST",
    path: "/workflows/:workflowId/trigger/rotate-secret",
    operation: "rotateWorkflowTriggerSecret",
    isForAgents: false,
    sdk: "workflows.rotateTriggerSecret(workflowId): workflow",
    summary: "Create or rotate the secret of a workflow's HTTP trigger",
    details:
      "An old secret is accepted beside the new one for 24 hours; a second rotation ends that immediately. The response shows `trigger_secret` once; a retry with the same Idempotency-Key answers 409.",
    replay: SHOWN_ONCE,
    audit: { resource: "workflow", id: ({ params }) => params.workflowId },
    done: "Trigger secret rotated",
    data: z.object({ workflow: WorkflowWithSecret }),
    handle: (ctx, { params }) => rotateTriggerSecret(ctx, params.workflowId),
  }),
  endpoint({
    ...common,
    method: "DELETE",
    path: "/workflows/:workflowId/trigger/secret",
    operation: "deleteWorkflowTriggerSecret",
    isForAgents: false,
    sdk: "workflows.deleteTriggerSecret(workflowId): workflow",
    summary: "Delete the secret of a workflow's HTTP trigger",
    details: "No signature is accepted any more; requests with an API key still start the workflow.",
    audit: { resource: "workflow", id: ({ params }) => params.workflowId },
    done: "Trigger secret deleted",
    data: z.object({ workflow: Workflow }),
    handle: (ctx, { params }) => removeTriggerSecret(ctx, params.workflowId),
  }),
];

const SECRET_PATH = "/workflows/:workflowId/secrets/:secret";

const ofSecrets = [
  endpoint({
    method: "GET",
    path: "/workflows/:workflowId/secrets",
    operation: "listWorkflowSecrets",
    sdk: "workflows.listSecrets(workflowId): secrets",
    summary: "List the names of a workflow's secrets",
    details: "By name. No response ever contains a value.",
    errors: ["NOT_FOUND"],
    done: "Secrets retrieved",
    data: z.object({ secrets: z.array(WorkflowSecret) }),
    handle: (ctx, { params }) => listSecrets(ctx, params.workflowId),
  }),
  endpoint({
    method: "PUT",
    path: SECRET_PATH,
    operation: "setWorkflowSecret",
    isForAgents: false,
    sdk: "workflows.setSecret(workflowId, secret, value): secret",
    summary: "Set a secret of a workflow",
    details: `Creates it, or replaces its value: every run that starts after the response reads it as \`env.NAME\`. The name has letters, digits and underscores. The value is stored encrypted, and the log and the result of a run show \`***\` in its place.`,
    errors: ["NOT_FOUND"],
    conflict: [
      `The workflow has ${MAX_SECRETS} secrets already.`,
      "Delete a secret that the workflow no longer reads.",
    ],
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
    method: "DELETE",
    path: SECRET_PATH,
    operation: "deleteWorkflowSecret",
    sdk: "workflows.deleteSecret(workflowId, secret)",
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

export const endpoints = [...ofSecrets, ...ofTriggers];
