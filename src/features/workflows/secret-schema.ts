/** Secrets of workflows on the wire: what sets one, and how it is shown, without its value. The SDK infers its types from it. */
import * as z from "zod";
import { byteLength, isPlainText } from "../../platform/text.ts";
import { presentTime, Timestamp } from "../../platform/time.ts";
import type { SecretSummary } from "./secret-store.ts";

const MAX_NAME_LENGTH = 64;
/** Shorter values could be guessed, and would be found by chance in what runs log. */
const MIN_VALUE_BYTES = 8;
const MAX_VALUE_BYTES = 4096;

/** As a program reads it: `env.NAME`. */
export const SecretName = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    "must have letters, digits and underscores only, and not begin with a digit",
  )
  .max(MAX_NAME_LENGTH, `must have at most ${MAX_NAME_LENGTH} characters`);

/** Body of `PUT /workflows/:workflowId/secrets/:secret`. */
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

/** A named value that only the runs of a workflow can read. */
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

export const presentSecret = ({ name, createdAt, updatedAt }: SecretSummary): WorkflowSecret => ({
  name,
  created_at: presentTime(createdAt),
  updated_at: presentTime(updatedAt),
});
