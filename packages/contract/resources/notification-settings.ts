/** The channels of notifications beside the inbox: the defaults of an organization, and the settings of an identity. */
import * as z from "zod";
import { parseStored } from "../stored.ts";
import { recordOf, text, updateOf } from "../text.ts";
import type { IdentityKind } from "./identity.ts";
import { type InboxKind, Kind } from "./inbox.ts";

export const CHANNELS = ["email", "webPush"] as const;
export type Channel = (typeof CHANNELS)[number];

const MAX_KINDS = 100;
const MAX_ROOMS = 500;
const DAY_SECONDS = 24 * 60 * 60;

const within = (max: number) =>
  [(choices: object) => Object.keys(choices).length <= max, `must have at most ${max} entries`] as const;

const Kinds = z
  .record(Kind, z.boolean())
  .refine(...within(MAX_KINDS))
  .meta({
    description: "By kind, whether its notifications are sent.",
    override: { type: "object", additionalProperties: { type: "boolean" } },
  });
const Rooms = z
  .record(text(1, 255), z.boolean())
  .refine(...within(MAX_ROOMS))
  .meta({
    description: "By the ID of a room, whether its notifications are sent. It goes before the kind.",
  });

const ChannelDefaults = z.object({
  sender: z.enum(["atrium", "webhook", "none"]).meta({
    description:
      "`atrium` sends by itself. `webhook` sends the event `notification`, with which your own back end does it. `none` is off.",
  }),
  delay: z.int().min(0).max(DAY_SECONDS).meta({
    description: "The seconds for which a notification has to be unread before it is sent.",
  }),
  kinds: Kinds,
});

const Email = ChannelDefaults.extend({ delay: ChannelDefaults.shape.delay.min(60) });
const OF_CHANNEL = {
  email: { description: "Mails: one has everything that is unread then." },
  webPush: { description: "Pushes to the browsers of the identity." },
};

const Link = z
  .string()
  .max(2_048)
  .refine((link) => /^https?:$/.test(URL.parse(link)?.protocol ?? ""), "must be an http or https address")
  .nullable()
  .meta({
    description:
      "The address of your page that mails and pushes lead to. `{roomId}`, `{kind}` and `{subjectId}` in it are replaced by those of the notification. `null`: they lead nowhere.",
  });

/** The settings of an organization for all identities, before their own. */
export const NotificationDefaults = z
  .object({
    email: Email.meta(OF_CHANNEL.email),
    webPush: ChannelDefaults.meta(OF_CHANNEL.webPush),
    link: Link.default(null),
  })
  .meta({
    id: "NotificationDefaults",
    example: {
      email: { sender: "atrium", delay: 900, kinds: { $invoice: false } },
      webPush: { sender: "atrium", delay: 10, kinds: {} },
      link: "https://app.example/rooms/{roomId}",
    },
  });
export type NotificationDefaults = z.infer<typeof NotificationDefaults>;

export const DEFAULTS: NotificationDefaults = {
  email: { sender: "atrium", delay: 900, kinds: {} },
  webPush: { sender: "atrium", delay: 10, kinds: {} },
  link: null,
};

/** Guests have no channel, whatever the organization's defaults are. */
export const defaultsFor = (
  { kind }: { readonly kind: IdentityKind },
  defaults: NotificationDefaults,
): NotificationDefaults =>
  kind !== "guest"
    ? defaults
    : {
        ...defaults,
        email: { ...defaults.email, sender: "none" },
        webPush: { ...defaults.webPush, sender: "none" },
      };

const ChannelSettings = z.object({
  enabled: z.boolean().meta({ description: "Whether anything is sent at all." }),
  kinds: Kinds,
  rooms: Rooms,
});

/** The settings of an identity. */
export const NotificationSettings = z
  .object({
    email: ChannelSettings.meta(OF_CHANNEL.email),
    webPush: ChannelSettings.meta(OF_CHANNEL.webPush),
  })
  .meta({
    id: "NotificationSettings",
    example: {
      email: { enabled: true, kinds: { thread: false }, rooms: {} },
      webPush: { enabled: true, kinds: {}, rooms: { "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11": false } },
    },
  });
export type NotificationSettings = z.infer<typeof NotificationSettings>;

const anything = { enabled: true, kinds: {}, rooms: {} };
export const ALL_WANTED: NotificationSettings = { email: anything, webPush: anything };
export const parseSettings = (json: string): NotificationSettings => parseStored(json, ALL_WANTED);

const changes = {
  kinds: recordOf(Kind, z.boolean().nullable())
    .optional()
    .meta({
      description: "The kinds that change. `null` removes a kind's entry.",
      override: { type: "object", additionalProperties: { type: ["boolean", "null"] } },
    }),
  rooms: recordOf(text(1, 255), z.boolean().nullable()).optional().meta({
    description: "The rooms that change. `null` removes a room's entry.",
  }),
};

const changesOf = ({ sender, delay }: Pick<typeof ChannelDefaults.shape, "sender" | "delay">) =>
  z.strictObject({ sender: sender.optional(), delay: delay.optional(), kinds: changes.kinds }).optional();

/** Absent fields stay as they are. */
export const NotificationDefaultsUpdate = updateOf({
  email: changesOf(Email.shape).meta(OF_CHANNEL.email),
  webPush: changesOf(ChannelDefaults.shape).meta(OF_CHANNEL.webPush),
  link: Link.optional(),
}).meta({ id: "NotificationDefaultsUpdate", example: { email: { delay: 3600 } } });
export type NotificationDefaultsUpdate = z.infer<typeof NotificationDefaultsUpdate>;

const ofChannel = z
  .strictObject({ enabled: ChannelSettings.shape.enabled.optional(), ...changes })
  .optional();

/** Absent fields stay as they are. */
export const NotificationSettingsUpdate = updateOf({
  email: ofChannel.meta(OF_CHANNEL.email),
  webPush: ofChannel.meta(OF_CHANNEL.webPush),
}).meta({
  id: "NotificationSettingsUpdate",
  example: { email: { kinds: { thread: false } } },
});
export type NotificationSettingsUpdate = z.infer<typeof NotificationSettingsUpdate>;

/** Whether the channel is to carry a notification. A room's entry goes before that of a kind, and both before the default. */
export function isWanted(
  channel: Channel,
  { kind, roomId }: { readonly kind: InboxKind; readonly roomId: string },
  settings: NotificationSettings,
  defaults: NotificationDefaults,
): boolean {
  const [wanted, { sender, kinds }] = [settings[channel], defaults[channel]];
  if (sender === "none" || !wanted.enabled) return false;
  return wanted.rooms[roomId] ?? wanted.kinds[kind] ?? kinds[kind] ?? true;
}
