/** The HTTP trigger of workflows on the wire. */
import * as z from "zod";
import { EXAMPLE, Workflow } from "./schema.ts";

/** The most bytes of a request to the HTTP trigger. */
export const MAX_TRIGGER_BYTES = 256 * 1024;

/** Body of `POST /workflows/:workflowId/trigger`. */
export const TriggerPayload = z.unknown().meta({
  description: `Any JSON of at most ${MAX_TRIGGER_BYTES} bytes. The workflow receives it as \`event.data.payload\`.`,
  example: { order: 8731 },
});

/** The run that a request has started. */
export const StartedExecution = z
  .object({
    id: z.uuid().meta({
      description:
        "Of the execution, which can be retrieved from now on. The list has it when it is finished.",
    }),
  })
  .meta({ id: "StartedExecution", example: { id: "0d7f2b1c-4a3e-8f59-8c6d-1e2b3a4c5d6f" } });
export type StartedExecution = z.infer<typeof StartedExecution>;

/** A workflow in the response to a rotation of its trigger's secret. */
export const WorkflowWithSecret = Workflow.extend({
  trigger_secret: z.string().meta({
    description: "Signs the requests that start the workflow, as Standard Webhooks defines it. Shown once.",
  }),
}).meta({
  id: "WorkflowWithSecret",
  example: {
    ...EXAMPLE,
    http_trigger: true,
    trigger_secret_created_at: EXAMPLE.created_at,
    trigger_secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDlpCZx3zH0mE=",
  },
});
export type WorkflowWithSecret = z.infer<typeof WorkflowWithSecret>;
