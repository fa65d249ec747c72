/** The HTTP triggers and the secrets of workflows on the wire. The SDK infers its types from it. */

import * as z from "zod";
import { byteLength, isPlainText } from "../text.ts";
import { Timestamp } from "../time.ts";
import { EXAMPLE, Workflow } from "./workflows.ts";

export const MAX_TRIGGER_BYTES = 256 * 1024;

export const TriggerPayload = z.unknown().meta({
  description: `Any JSON of at most ${MAX_TRIGGER_BYTES} bytes. The workflow receives it as \`event.data.payload\`.`,
  example: { order: 8731 },
});

export const StartedExecution = z
  .object({
    id: z.uuid().meta({
      description:
        "The ID of the execution, which can be retrieved from now on. The list has it when it is finished.",
    }),
  })
  .meta({ id: "StartedExecution", example: { id: "0d7f2b1c-4a3e-8f59-8c6d-1e2b3a4c5d6f" } });
export type StartedExecution = z.infer<typeof StartedExecution>;

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

const MAX_NAME_LENGTH = 64;
/** Shorter values could be guessed, and would match logs by chance. */
const MIN_VALUE_BYTES = 8;
const MAX_VALUE_BYTES = 4096;

export const SecretName = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    "must have letters, digits and underscores only, and not begin with a digit",
  )
  .max(MAX_NAME_LENGTH, `must have at most ${MAX_NAME_LENGTH} characters`);

export const SecretValue = z
  .strictObject({
    value: z
      .string()
      .refine((value) => isPlainText(value), "must be well-formed Unicode without NUL")
      .refine(
        (value) => byteLength(value) >= MIN_VALUE_BYTES && byteLength(value) <= MAX_VALUE_BYTES,
        `must have ${MIN_VALUE_BYTES} to ${MAX_VALUE_BYTES} bytes`,
      )
      .meta({
        description: `${MIN_VALUE_BYTES} to ${MAX_VALUE_BYTES} bytes. No response ever contains it.`,
        minLength: 1,
        maxLength: MAX_VALUE_BYTES,
      }),
  })
  .meta({ id: "WorkflowSecretValue", example: { value: "a token of another service" } });

export const WorkflowSecret = z
  .object({
    name: SecretName.meta({ description: "A program reads the value as `env.NAME`." }),
    created_at: Timestamp,
    updated_at: Timestamp.meta({ description: "When the value was last set." }),
  })
  .meta({
    id: "WorkflowSecret",
    example: {
      name: "CHAT_TOKEN",
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z",
    },
  });
export type WorkflowSecret = z.infer<typeof WorkflowSecret>;
