/** Identities and groups: found by name, shown in lists, and put together. */
import type { AtriumServer, Group, Identity } from "atrium/server";
import { useState } from "react";
import { Link } from "wouter";
import { useAction, useApiQuery } from "../data/organization.tsx";
import { type Found, Picker } from "../ui/combobox.tsx";
import { Badge, type BadgeProps } from "../ui/feedback.tsx";
import { NameField, TextField } from "../ui/fields.tsx";
import { type Column, orDash } from "../ui/table.tsx";

const TONES: Readonly<Record<Identity["kind"], BadgeProps["tone"]>> = {
  person: "plain",
  agent: "good",
  guest: "waiting",
};

export const KindBadge = ({ kind }: Pick<Identity, "kind">) => <Badge tone={TONES[kind]}>{kind}</Badge>;

/** The first columns of a list whose items are identities, or have one. */
export const identityColumns = <Item,>(identityOf: (item: Item) => Identity): Column<Item>[] => [
  {
    label: "Name",
    sort: "name",
    cell: (item) => <Link href={`/people/identities/${identityOf(item).id}`}>{identityOf(item).name}</Link>,
  },
  { label: "Kind", cell: (item) => <KindBadge kind={identityOf(item).kind} /> },
  { label: "Custom ID", cell: (item) => orDash(identityOf(item).custom_id) },
  { label: "Email", cell: (item) => orDash(identityOf(item).email) },
];

/** The fields of an identity that can be edited. */
export const IdentityFields = ({ identity }: { readonly identity?: Identity }) => (
  <>
    <NameField defaultValue={identity?.name ?? ""} />
    <TextField
      label="Email"
      name="email"
      type="email"
      defaultValue={identity?.email ?? ""}
      hint="Optional. Only your back end and this dashboard see it."
    />
    <TextField
      label="Picture"
      name="profilePicture"
      type="url"
      maxLength={2048}
      defaultValue={identity?.profile_picture ?? ""}
      hint="Optional. The address of a picture, which your application shows."
    />
    <CustomIdField of={identity} />
  </>
);

export const CustomIdField = ({ of }: { readonly of: Pick<Identity, "custom_id"> | undefined }) => (
  <TextField
    label="Custom ID"
    name="customId"
    maxLength={255}
    defaultValue={of?.custom_id ?? ""}
    hint="Optional. Your application's own ID for this identity, which must be unique."
  />
);

/** Results of each kind. */
const FOUND = 8;

const FIND = {
  identities: async ({ identities }: AtriumServer, search: string): Promise<Found[]> =>
    (await identities.list({ search, limit: FOUND })).identities.map(({ id, name, kind, custom_id }) => ({
      id,
      label: name,
      note: [kind, custom_id].filter(Boolean).join(" · "),
    })),
  groups: async ({ groups }: AtriumServer, search: string): Promise<Found[]> =>
    (await groups.list({ search, limit: FOUND })).groups.map(({ id, name, custom_id }) => ({
      id,
      label: name,
      note: ["group", custom_id].filter(Boolean).join(" · "),
    })),
};

/** The results with the text in their name, or the newest without a text. A result of an earlier search never stays. */
export const useFound = (kind: keyof typeof FIND, search: string, enabled = true) =>
  useApiQuery([kind, "found", search], (atrium) => FIND[kind](atrium, search), {
    placeholderData: () => undefined,
    enabled,
  });

interface FoundPickerProps extends Pick<Parameters<typeof Picker>[0], "icon"> {
  readonly kind: keyof typeof FIND;
  readonly label: string;
  readonly onChoose: (found: Found) => void;
}

/** Finds an identity or a group by name. */
export function FoundPicker({ kind, icon, label, onChoose }: FoundPickerProps) {
  const [text, setText] = useState("");
  const { data: items, isLoading: isSearching } = useFound(kind, text);
  return <Picker {...{ icon, label, text, items, isSearching, onChoose }} onText={setText} />;
}

interface Membership {
  readonly identity: Pick<Identity, "id" | "name">;
  readonly group: Pick<Group, "id" | "name">;
}

export const MEMBERSHIPS = [["identity"], ["group"]];

/** Adds an identity to a group. Refuses one that is in it already, which Undo would take out. */
export const useAddition = () =>
  useAction(
    async ({ identities, groups }, { identity, group }: Membership) => {
      const known = await identities.listGroups(identity.id);
      if (known.groups.some(({ id }) => id === group.id))
        throw new Error(`${identity.name} is in ${group.name} already`);
      await groups.addMember(group.id, identity.id);
      return `${identity.name} added to ${group.name}`;
    },
    {
      toast: (done) => done,
      undo: ({ groups }, _, { identity, group }) => groups.removeMember(group.id, identity.id),
      refreshes: MEMBERSHIPS,
      notifiesErrors: true,
    },
  );

/** Takes an identity out of a group, and back in by Undo. */
export const removalOf = ({ identity, group }: Membership) => ({
  act: ({ groups }: AtriumServer) => groups.removeMember(group.id, identity.id),
  options: {
    toast: `${identity.name} removed from ${group.name}`,
    undo: ({ groups }: AtriumServer) => groups.addMember(group.id, identity.id),
    refreshes: MEMBERSHIPS,
  },
});
