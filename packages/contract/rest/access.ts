/** The access to a room on the wire. The SDK imports these types. */

import * as z from "zod";
import {
  BAN,
  type DecidedLevel,
  Permission,
  PRESETS,
  permissionsOf,
  RESOURCES,
  rightsOf,
} from "../resources/permissions.ts";
import { CustomId, recordOf, text, updateOf } from "../text.ts";

/** The groups and identities that one request can name. */
export const MAX_NAMED = 1_000;

const PRESET_NAMES = ["viewer", "commenter", "editor"] as const satisfies readonly (keyof typeof PRESETS)[];
const Preset = z.enum(PRESET_NAMES).meta({
  id: "AccessPreset",
  description: `A name for permissions: ${PRESET_NAMES.map((name) => `\`${name}\` for \`${PRESETS[name].join("`, `")}\``).join("; ")}.`,
});

/** Each permission once, in one order, so that the same access is the same text. */
const inOrder = (given: readonly Permission[]): Permission[] =>
  Permission.options.filter((permission) => given.includes(permission));

/** Permissions or the name of a preset, as an array of at least `min` permissions. */
export const permissionsOrPreset = (min: 0 | 1) =>
  z.union(
    [
      Preset.transform((name): Permission[] => [...PRESETS[name]]),
      z.array(Permission).min(min).max(Permission.options.length).transform(inOrder),
    ],
    `must be an array of ${min === 0 ? "" : "at least one of "}the permissions ${Permission.options.join(", ")}, or one of the presets ${PRESET_NAMES.join(", ")}`,
  );

/** The fields of a request that narrow a credential. */
export const narrowing = (credential: "token" | "key", others: string) => ({
  rooms: z
    .array(
      z.union([
        text(1, 256),
        z.strictObject({ customId: CustomId.meta({ description: "The room's custom ID." }) }),
        z.strictObject({ customIdPrefix: CustomId.meta({ description: "The beginning of custom IDs." }) }),
      ]),
    )
    .min(1)
    .max(10)
    .optional()
    .meta({
      description: `The rooms that the ${credential} opens: IDs as text, \`{ customId }\`, or \`{ customIdPrefix }\` for all rooms whose custom IDs begin so. A text that is no room's ID is a custom ID, or the beginning of custom IDs before \`*\`. All rooms by default, and for a JavaScript value of \`undefined\`, which JSON leaves out: check a list that you compute.`,
      example: ["0f8e7a52-1c4d-4b7f-9a37-2f5c3d6e8b19", { customIdPrefix: "board-" }],
    }),
  permissions: permissionsOrPreset(1)
    .optional()
    .meta({
      description: `The most that the ${credential} allows${others}: permissions, or the name of a preset. Everything by default, and for \`undefined\`.`,
      example: ["*:read"],
    }),
});

const ByDefault = permissionsOrPreset(0).meta({
  description:
    "What every identity may do without an entry of its own or of its groups. Empty: it may not enter.",
});

const Banned = z.tuple([z.literal(BAN)]);

const entriesOf = <Entry extends z.ZodType>(subject: "group" | "identity", entry: Entry) =>
  recordOf(z.uuid(), entry.nullable(), `is no ${subject}'s ID`).optional();

const countOf = (entries: object | undefined): number => Object.keys(entries ?? {}).length;

export const RoomAccessUpdate = updateOf({
  defaultAccesses: ByDefault.optional(),
  groupsAccesses: entriesOf("group", permissionsOrPreset(1)).meta({
    description:
      "By the IDs of groups. `null` removes an entry; groups that are left out keep theirs. Of a member's groups, the highest level counts.",
    example: { "2f6d1c8a-4b0e-4a39-8f7c-5d9e0b1a3c77": "editor" },
  }),
  identitiesAccesses: entriesOf(
    "identity",
    z.union(
      [permissionsOrPreset(1), Banned],
      `must be an array of at least one of the permissions ${Permission.options.join(", ")}, one of the presets ${PRESET_NAMES.join(", ")}, or ["${BAN}"]`,
    ),
  ).meta({
    description:
      'By the IDs of identities, before their groups. `null` removes an entry; identities that are left out keep theirs. `["none"]` bans an identity, whatever else allows it.',
    example: { "7b0f2f64-8d3a-4f0d-9a55-0c1b9a3f6e11": ["*:read", "comments:write"] },
  }),
})
  .refine(
    ({ groupsAccesses, identitiesAccesses }) =>
      countOf(groupsAccesses) + countOf(identitiesAccesses) <= MAX_NAMED,
    `groupsAccesses, identitiesAccesses: can name at most ${MAX_NAMED} groups and identities together; send several requests`,
  )
  .meta({
    id: "RoomAccessUpdate",
    example: {
      defaultAccesses: "viewer",
      groupsAccesses: { "2f6d1c8a-4b0e-4a39-8f7c-5d9e0b1a3c77": "editor" },
    },
  });
export type RoomAccessUpdate = z.infer<typeof RoomAccessUpdate>;
export type RoomAccessInput = z.input<typeof RoomAccessUpdate>;

export const DefaultAccessUpdate = z
  .strictObject({ defaultAccesses: ByDefault })
  .meta({ id: "DefaultAccessUpdate", example: { defaultAccesses: "viewer" } });
const Granted = z.array(Permission);

export const AccessEntry = z
  .object({
    id: z.uuid().meta({ description: "The ID of the group or identity." }),
    name: z.string().meta({ description: "Its name." }),
    custom_id: z.string().optional().meta({ description: "Your own identifier. Absent if not set." }),
    permissions: z
      .union([Granted, Banned])
      .meta({ description: 'In one order, each once. `["none"]` bans an identity.' }),
  })
  .meta({
    id: "AccessEntry",
    example: { id: "2f6d1c8a-4b0e-4a39-8f7c-5d9e0b1a3c77", name: "Designers", permissions: ["*:write"] },
  });
export type AccessEntry = z.infer<typeof AccessEntry>;

export const RoomAccess = z.object({
  default_accesses: Granted.meta({
    description: "What every other identity may do. Empty: it may not enter.",
  }),
  groups_accesses: z.array(AccessEntry).meta({ description: "What members of groups may do." }),
  identities_accesses: z.array(AccessEntry).meta({ description: "What single identities may do." }),
});
export type RoomAccess = z.infer<typeof RoomAccess>;

export const AccessQuestion = z
  .strictObject({ identityId: z.uuid().meta({ description: "The identity's ID." }) })
  .meta({ id: "AccessQuestion", example: { identityId: "7b0f2f64-8d3a-4f0d-9a55-0c1b9a3f6e11" } });

export const AccessDecision = z
  .object({
    permissions: Granted.meta({
      description: "In the shortest form. Empty: the identity may not enter the room.",
    }),
    sources: z
      .array(
        z.object({
          resource: z.enum(RESOURCES).meta({ description: "What the level is about." }),
          level: z
            .enum(["none", "read", "suggest", "write"])
            .meta({ description: "The most that it may do with it; `suggest` for documents alone." }),
          source: z.enum(["identity", "groups", "default"]).nullable().meta({
            description:
              "The entry that decides: the identity's own, its groups', or the default. `null` if none does.",
          }),
          group_ids: z.array(z.uuid()).optional().meta({
            description: "The groups whose entries give this level. Only if the source is `groups`.",
          }),
        }),
      )
      .meta({ description: "One for each resource." }),
  })
  .meta({
    id: "AccessDecision",
    example: {
      permissions: ["*:read", "comments:write"],
      sources: [
        { resource: "stores", level: "read", source: "default" },
        {
          resource: "comments",
          level: "write",
          source: "groups",
          group_ids: ["2f6d1c8a-4b0e-4a39-8f7c-5d9e0b1a3c77"],
        },
      ],
    },
  });
export type AccessDecision = z.infer<typeof AccessDecision>;

/** Presents a decision; `groupIds` are those of its groups, in the same order. */
export const presentDecision = (
  levels: readonly DecidedLevel[],
  groupIds: readonly string[],
): AccessDecision => ({
  permissions: permissionsOf(rightsOf(levels)),
  sources: levels.map(({ groups, ...level }) =>
    groups === undefined ? level : { ...level, group_ids: groupIds.filter((_, at) => groups.includes(at)) },
  ),
});
