/** The users of a room, with their tokens, and actions on several of them. */

import { DAY_MS } from "@atrium/contract/time.ts";
import type { UserInput, UserSearch, UserWithToken } from "atrium/server";
import { Link } from "wouter";
import { chosen, useFilters } from "../data/filters.ts";
import { useAction, useApiQuery, useCurrent } from "../data/organization.tsx";
import { useRefreshMs } from "../live/live.tsx";
import { KindBadge } from "../people/people.tsx";
import { type BulkAction, oneByOne } from "../ui/bulk-dialog.tsx";
import { CopyButton } from "../ui/button.tsx";
import { Badge, Empty } from "../ui/feedback.tsx";
import { NameField, SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { FilterSelect, ListFilters } from "../ui/list-filters.tsx";
import { NAMED, SelectablePage } from "../ui/selectable.tsx";
import { type Column, orDash } from "../ui/table.tsx";
import { OptionalTime, Time } from "../ui/time.tsx";

/** The UTC day this many days ago; it stays the same while the page refreshes. */
const dayBefore = (now: number, days: number): string =>
  new Date(now - days * DAY_MS).toISOString().slice(0, 10);

/** Filters of the list, by their values in the page's address. */
const SHOWN: Readonly<Record<string, (now: number) => UserSearch>> = {
  online: () => ({ online: true }),
  offline: () => ({ online: false }),
  week: (now) => ({ lastSeenFrom: dayBefore(now, 6) }),
  before: (now) => ({ lastSeenTo: dayBefore(now, 7) }),
};
const LABELS = {
  online: "Online",
  offline: "Offline",
  week: "Seen in the last 7 days",
  before: "Last seen before that",
};

const COLUMNS: readonly Column<UserWithToken>[] = [
  {
    label: "Name",
    sort: "name",
    cell: ({ id, room_id, name, kind }) => (
      <>
        <Link href={`/rooms/${room_id}/users/${id}`}>{name}</Link> {kind && <KindBadge kind={kind} />}
      </>
    ),
  },
  { label: "Custom ID", cell: ({ custom_id }) => orDash(custom_id) },
  { label: "Role", cell: ({ role }) => role },
  {
    label: "Status",
    cell: ({ status }) => <Badge tone={status === "online" ? "good" : "plain"}>{status}</Badge>,
  },
  { label: "Last joined", cell: ({ joined_at }) => <OptionalTime at={joined_at} /> },
  { label: "Created", sort: "created_at", cell: ({ created_at }) => <Time at={created_at} /> },
  {
    label: "Token",
    cell: ({ token, name }) => <CopyButton text={token} what={`the token of ${name}`} label="Copy" />,
  },
];

export function UsersPart({ roomId }: { readonly roomId: string }) {
  const filters = useFilters();
  const { get, search } = filters;
  const query = {
    ...{ ...filters.page(["name", "created_at"]), ...chosen({ search }) },
    ...SHOWN[get("show")]?.(Date.now()),
  };
  const users = useApiQuery(
    ["room", roomId, "users", "with tokens", query],
    (atrium) => atrium.users.list(roomId, query),
    { refetchInterval: useRefreshMs() },
  );
  const actions = useUserActions(roomId);
  const empty = (
    <Empty
      filters={filters}
      title="No users yet"
      create="Create a user"
      command={["POST", "/users", { roomId, name: "Ada" }]}
    >
      Create a user for each person in your application, who joins from a browser with its token.
    </Empty>
  );
  return (
    <section>
      <ListFilters label="Search users by name or ID" filters={filters}>
        <FilterSelect label="Users to show" filters={filters} name="show" all="All users" options={LABELS} />
        <NewUser roomId={roomId} />
      </ListFilters>
      <SelectablePage
        label="Users"
        noun={{ one: "user", many: "users" }}
        query={users}
        itemsOf={(data) => data.users}
        {...NAMED}
        columns={COLUMNS}
        {...{ filters, empty, actions }}
        refreshes={[["room", roomId], ["overview"]]}
      />
    </section>
  );
}

function useUserActions(roomId: string): readonly BulkAction<UserWithToken>[] {
  const { atrium } = useCurrent();
  return [
    {
      label: "Disconnect",
      done: "disconnected",
      consequences: "Their connections close. They can join again with their tokens.",
      applies: ({ status }) => status === "online",
      run: oneByOne(({ id }) => atrium.removeParticipant(roomId, id)),
    },
    {
      label: "End tokens of",
      done: "with tokens ended",
      consequences: "All their tokens so far stop working and their connections close. The users stay.",
      run: oneByOne(({ id }) => atrium.users.endTokens(roomId, id)),
    },
    {
      label: "Delete",
      done: "deleted",
      consequences: "Their tokens stop working and their connections close. This cannot be undone.",
      isDanger: true,
      run: oneByOne(({ id }) => atrium.users.delete(roomId, id)),
    },
  ];
}

const ROLES = ["editor", "viewer"] as const;

function NewUser({ roomId }: { readonly roomId: string }) {
  const create = useAction(
    ({ users }, user: Omit<UserInput, "roomId">) => users.create({ ...user, roomId }),
    {
      toast: ({ name }) => `User ${name} created`,
      refreshes: [["room", roomId], ["overview"]],
    },
  );
  return (
    <FormDialog
      button={{ variant: "primary", icon: "plus", "data-shortcut": "new", children: "New user" }}
      title="New user"
      submitLabel="Create user"
      action={create}
      toInput={({ name = "", customId = "", role }) => ({
        name,
        role: ROLES.find((one) => one === role) ?? "editor",
        ...(customId && { customId }),
      })}
    >
      <NameField />
      <SelectField
        label="Role"
        name="role"
        options={ROLES}
        hint="Viewers can read, follow others and show presence."
      />
      <TextField
        label="Custom ID"
        name="customId"
        maxLength={255}
        hint="Optional. The ID of the user in your application; unique in the room."
      />
    </FormDialog>
  );
}
