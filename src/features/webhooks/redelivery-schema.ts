/** The redelivery of events on the wire. The SDK infers its types from it. */
import * as z from "zod";

/** Body of `POST /webhooks/:webhookId/redeliver`. */
export const Redelivery = z
  .strictObject({
    ids: z.array(z.uuid()).min(1).max(100).meta({ description: "Of deliveries; duplicates count once." }),
  })
  .meta({ id: "Redelivery", example: { ids: ["c1a4b7d2-3e5f-4a60-9b8c-0d1e2f3a4b5c"] } });
export type Redelivery = z.infer<typeof Redelivery>;

export const RedeliveryResult = z.object({
  redelivered: z.int().meta({ description: "How many new deliveries there are." }),
  missing: z.array(z.string()).meta({ description: "The ids of deliveries that are not kept." }),
});
export type RedeliveryResult = z.infer<typeof RedeliveryResult>;
