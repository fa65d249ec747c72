/** Streams on the wire: the list; the streams themselves are bytes. */

import * as z from "zod";

export const StreamSummary = z
  .object({
    name: z.string().meta({ description: "The last part of its address.", example: "answer" }),
    content_type: z.string().meta({ description: "The type of its content.", example: "text/plain" }),
    next_offset: z.string().meta({
      description: "The offset after the last byte.",
      example: "1764578400000000_0000000000000042",
    }),
    bytes: z.int().meta({
      description: "In storage; a fork shares what it has of its source.",
      minimum: 0,
      example: 42,
    }),
    closed: z.boolean().meta({ description: "Whether it is complete." }),
    ttl_seconds: z.int().nullable().meta({
      description: "The time without reads and writes after which it is deleted; null for none.",
      minimum: 0,
      example: 3600,
    }),
    expires_at: z.iso
      .datetime()
      .nullable()
      .meta({ description: "When it is deleted; null without such a time." }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "Stream" });
export type StreamSummary = z.infer<typeof StreamSummary>;
