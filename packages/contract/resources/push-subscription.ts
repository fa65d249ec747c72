/** Browsers to which the notifications of an identity are pushed. */
import * as z from "zod";
import { text } from "../text.ts";
import { presentNullableTime, presentTime, Timestamp } from "../time.ts";

const endpoint = text(1, 2048).meta({
  description: "The address of the browser's push service, which is a secret of the browser.",
  example: "https://push.example/send/c2VjcmV0",
});

/** The message for a page's service worker: `atrium/push-worker` shows it. */
export interface PushMessage {
  /** The notification's ID: a further message with it replaces the shown one. */
  readonly id: string;
  readonly title: string;
  readonly body: string;
  /** The page to open; null for the page of the service worker. */
  readonly url: string | null;
}

/** Base64url, whose padding some browsers write. */
const bytes = (characters: number, description: string) =>
  z
    .string()
    .regex(new RegExp(`^[\\w-]{${characters}}={0,2}$`), `must be Base64url of ${characters} characters`)
    .meta({ description });

/** A browser's `PushSubscription.toJSON()`. */
export const PushSubscriptionInput = z
  .strictObject({
    endpoint,
    expirationTime: z.number().min(0).max(Number.MAX_SAFE_INTEGER).nullable().optional().meta({
      description: "When the browser ends it, in milliseconds since 1970; `null` for never.",
    }),
    keys: z
      .strictObject({
        p256dh: bytes(87, "The browser's public key."),
        auth: bytes(22, "The browser's secret."),
      })
      .meta({ description: "Messages are encrypted with them. No answer has them." }),
  })
  .meta({
    id: "PushSubscriptionInput",
    example: {
      endpoint: "https://updates.push.services.mozilla.com/wpush/v2/c2VjcmV0",
      expirationTime: null,
      keys: {
        p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        auth: "BTBZMqHH6r4Tts7J_aSIgg",
      },
    },
  });
export type PushSubscriptionInput = z.infer<typeof PushSubscriptionInput>;

export const PushSubscriptionEnd = z
  .strictObject({ endpoint })
  .meta({ id: "PushSubscriptionEnd", example: { endpoint: "https://push.example/send/c2VjcmV0" } });

/** A subscription without its keys. */
export const PushSubscription = z
  .object({
    endpoint,
    created_at: Timestamp,
    expires_at: Timestamp.nullable().meta({ description: "When the browser ends it; `null` for never." }),
  })
  .meta({
    id: "PushSubscription",
    example: {
      endpoint: "https://push.example/send/c2VjcmV0",
      created_at: "2026-01-31T09:30:00.000Z",
      expires_at: null,
    },
  });
export type PushSubscription = z.infer<typeof PushSubscription>;

/** Times are in epoch milliseconds. */
export const presentSubscription = ({
  endpoint,
  createdAt,
  expiresAt,
}: {
  readonly endpoint: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}): PushSubscription => ({
  endpoint,
  created_at: presentTime(createdAt),
  expires_at: presentNullableTime(expiresAt),
});

/** The subscriptions of an identity, and the key with which browsers subscribe. */
export const PushSubscriptions = z
  .object({
    public_key: z.string().nullable().meta({
      description:
        "The `applicationServerKey` with which browsers subscribe. `null`: this deployment has no key, and pushes nothing.",
      example: "BDd3_hVL9fZi9Ybo2UUzA284WG5FZR30_95YeZJsiApwXKpNcF1rRPF3foIiBHXRdJI2Qhumhf6_LFTeZaNndIo",
    }),
    subscriptions: z.array(PushSubscription).meta({ description: "The latest first." }),
  })
  .meta({ id: "PushSubscriptions", example: { public_key: null, subscriptions: [] } });
export type PushSubscriptions = z.infer<typeof PushSubscriptions>;
