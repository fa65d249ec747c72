/** A comment on the wire. The client SDK infers its type from here. */
import * as z from "zod";
import { Timestamp } from "../time.ts";
import { Mention, ofResolved } from "./thread.ts";

export const Comment = z
  .object({
    id: z.uuid(),
    room_id: z.uuid(),
    user_id: z.string().meta({ description: "The author." }),
    thread_id: z.string().meta({ description: "The id of the comment that started the thread." }),
    text: z.string(),
    anchor: z.unknown().meta({
      description: "The subject of the comment, in your own format; null for none.",
    }),
    metadata: z.unknown().optional().meta({
      description: "Data of your application, such as the text with its formatting; absent without any.",
    }),
    mentions: z.array(z.string()).meta({ description: "Ids of the mentioned users." }),
    mentioned: z.array(Mention).optional().meta({
      description: "The mentioned identities and groups; absent without any.",
    }),
    reactions: z
      .record(z.string(), z.array(z.string()))
      .meta({ description: "The users who reacted, by reaction, earliest first." }),
    resolved: z.boolean(),
    ...ofResolved,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({
    id: "Comment",
    example: {
      id: "0d4f3f6e-8a52-4d0c-9f7e-1b2c3d4e5f60",
      room_id: "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11",
      user_id: "b5f1f7d2-0f5e-4d3c-8a57-6f2f0f3f9c21",
      thread_id: "0d4f3f6e-8a52-4d0c-9f7e-1b2c3d4e5f60",
      text: "Shall we move this up?",
      anchor: { x: 12, y: 40 },
      mentions: [],
      reactions: {},
      resolved: false,
      created_at: "2026-01-31T09:30:00.000Z",
      updated_at: "2026-01-31T09:30:00.000Z",
    },
  });
export type Comment = z.infer<typeof Comment>;
