/** The permissions of an entry: chosen from presets, or resource by resource. */

import type {
  PRESETS as ServedPresets,
  RESOURCES as ServedResources,
} from "@atrium/contract/resources/permissions.ts";
import type { QueryKey } from "@tanstack/react-query";
import type { AtriumServer, Permission } from "atrium/server";
import { useAction } from "../data/organization.tsx";
import { SelectField } from "../ui/fields.tsx";
import { FormDialog, type Values } from "../ui/form.tsx";

/** The service's own, as the compiler checks: its module would bring validation into the page. */
const RESOURCES: typeof ServedResources = [
  "presence",
  "broadcasts",
  "stores",
  "documents",
  "comments",
  "files",
  "streams",
];
const PRESETS: typeof ServedPresets = {
  viewer: ["*:read", "presence:write"],
  commenter: ["*:read", "presence:write", "comments:write"],
  editor: ["*:write"],
};

const BAN = ["none"] as const;

export type Granted = readonly Permission[] | typeof BAN;

/** The presets that a new entry of a group or an identity can have. */
export const PRESET_NAMES = ["viewer", "commenter", "editor"] as const;
export const permissionsOf = (preset: (typeof PRESET_NAMES)[number]): readonly Permission[] =>
  PRESETS[preset];

export const isBan = (granted: Granted): granted is typeof BAN => granted[0] === BAN[0];

const isSame = (one: Granted, other: Granted): boolean => one.join() === other.join();

/** The preset's name of permissions; `custom` for others. */
export function nameOf(granted: Granted): string {
  if (isBan(granted)) return "banned";
  if (granted.length === 0) return "may not enter";
  return PRESET_NAMES.find((name) => isSame(PRESETS[name], granted)) ?? "custom";
}

/** The granted access in a word, with the permissions where it is no preset. */
export const Granting = ({ granted }: { readonly granted: Granted }) => {
  const name = nameOf(granted);
  return name === "custom" ? <code>{granted.join(" ")}</code> : name;
};

/** The choices for each kind of entry: only an identity can be banned, and only the default can be empty. */
const CHOICES: Readonly<Record<"default" | "group" | "identity", readonly Granted[]>> = {
  default: [[], ...Object.values(PRESETS)],
  group: Object.values(PRESETS),
  identity: [...Object.values(PRESETS), BAN],
};

interface AccessSelectProps {
  readonly kind: keyof typeof CHOICES;
  /** The holder of the access in words, such as a name. */
  readonly of: string;
  readonly granted: Granted;
  readonly save: (atrium: AtriumServer, granted: Granted) => Promise<{ readonly pending_rooms?: number }>;
  /** Prefixes of the query keys to refresh. */
  readonly refreshes: readonly QueryKey[];
}

/** The toast of a change, which may reach those who are online a little later. */
export const toastOf =
  (change: string) =>
  ({ pending_rooms = 0 }): string =>
    pending_rooms === 0 ? change : `${change}. Users who are online follow within a minute.`;

export function AccessSelect({ kind, of, granted, save, refreshes }: AccessSelectProps) {
  const options = {
    toast: toastOf(`Access of ${of} changed`),
    undo: (atrium: AtriumServer) => save(atrium, granted),
    refreshes,
  };
  const change = useAction(save, { ...options, notifiesErrors: true });
  const customize = useAction(async (atrium, chosen: Granted) => {
    if (chosen.length === 0 && kind !== "default")
      throw new Error("Choose a level. To take all access away, remove the entry");
    return save(atrium, chosen);
  }, options);
  const shown = nameOf(change.isPending ? change.variables : granted);
  const names = CHOICES[kind].map(nameOf);
  return (
    <div className="access">
      <SelectField
        label={`Access of ${of}`}
        isLabelHidden
        value={shown}
        onChange={({ currentTarget: { value } }) => {
          const chosen = CHOICES[kind].find((one) => nameOf(one) === value);
          if (chosen !== undefined) change.mutate(chosen);
        }}
        options={names.includes(shown) ? names : [...names, shown]}
      />
      <FormDialog
        button={{ variant: "quiet", "aria-label": `Custom access of ${of}`, children: "Custom…" }}
        title={`Access of ${of}`}
        about="A resource's level overrides the room's. Any level reads the whole room."
        submitLabel="Save"
        action={customize}
        toInput={permissionsIn}
      >
        <Levels granted={granted} />
      </FormDialog>
      {shown === "custom" && <code className="soft">{granted.join(" ")}</code>}
    </div>
  );
}

/** Fields for the level of each resource, which {@link permissionsIn} reads. */
export const Levels = ({ granted }: { readonly granted: Granted }) => (
  <div className="levels">
    {LEVEL_FIELDS.map(({ resource, label, unsaid, levels }) => (
      <SelectField
        key={resource}
        label={label}
        name={resource}
        defaultValue={levelIn(granted, resource)}
        options={[["", unsaid], ...levels]}
      />
    ))}
  </div>
);

const LEVELS = ["read", "suggest", "write"] as const;

const LEVEL_FIELDS = [
  { resource: "*", label: "Everything", unsaid: "no level", levels: ["read", "write"] },
  ...RESOURCES.map((resource) => ({
    resource,
    label: resource.charAt(0).toUpperCase() + resource.slice(1),
    unsaid: "as everything",
    levels: resource === "documents" ? LEVELS : (["read", "write"] as const),
  })),
] as const;

const levelIn = (granted: Granted, resource: string): string =>
  LEVELS.findLast((level) => granted.some((one) => one === `${resource}:${level}`)) ?? "";

export const permissionsIn = (values: Values): Permission[] =>
  LEVEL_FIELDS.flatMap(({ resource, levels }) =>
    levels.filter((level) => values[resource] === level).map((level) => `${resource}:${level}` as Permission),
  );
