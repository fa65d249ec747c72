/** The links of a room, with which guests come without an account. */
import type { Room, RoomLink, RoomLinkInput } from "atrium/server";
import { useState } from "react";
import { chosen } from "../data/filters.ts";
import { useAction, useApiQuery } from "../data/organization.tsx";
import { countOf } from "../ui/bulk-dialog.tsx";
import { Identifier } from "../ui/button.tsx";
import { ConfirmAction, Secret } from "../ui/dialog.tsx";
import { Badge, Empty, Loaded } from "../ui/feedback.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { Section } from "../ui/page.tsx";
import { type Column, CursorPager, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { Granting, PRESET_NAMES } from "./access-select.tsx";

interface LinksProps {
  readonly room: Pick<Room, "id" | "state">;
}

const REFRESH_MS = 15_000;

/** Guests come while the page is open, and links end. */
export function Links({ room }: LinksProps) {
  const [after, goAfter] = useState("");
  const part = chosen({ after });
  const query = useApiQuery(
    ["room", room.id, "links", part],
    (atrium) => atrium.listRoomLinks(room.id, part),
    {
      refetchInterval: REFRESH_MS,
    },
  );
  return (
    <Section
      id="links"
      title="Links for guests"
      beside={<NewLink room={room} onCreated={() => goAfter("")} />}
    >
      <Loaded query={query} shape="list">
        {({ links, total, cursor }) => (
          <>
            <Table label="List of links" items={links} idOf={({ id }) => id} columns={columnsFor(room)} />
            {total === 0 && (
              <Empty
                title="No links yet"
                command={["POST", `/rooms/${room.id}/links`, { permissions: "commenter", maxUses: 20 }]}
              >
                A link lets people into this room who have no account in your application.
              </Empty>
            )}
            <CursorPager filters={{ after, goAfter }} cursor={cursor} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

const columnsFor = (room: LinksProps["room"]): readonly Column<RoomLink>[] => [
  { label: "Access", cell: ({ permissions }) => <Granting granted={permissions} /> },
  { label: "ID", cell: ({ id }) => <Identifier value={id} what="the link's ID" /> },
  { label: "State", cell: (link) => <State link={link} room={room} /> },
  {
    label: "Guests",
    className: "number",
    cell: ({ uses, max_uses }) => `${uses.toLocaleString("en")} of ${max_uses.toLocaleString("en")}`,
  },
  {
    label: "Expires",
    cell: ({ expires_at }) => (expires_at === null ? "when revoked" : <Time at={expires_at} />),
  },
  { label: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  { label: "Actions", className: "row-actions", cell: (link) => <Revocation link={link} /> },
];

interface LinkProps {
  readonly link: RoomLink;
}

function State({ link: { uses, max_uses }, room: { state } }: LinkProps & LinksProps) {
  if (state === "closed") return <Badge tone="waiting">room closed</Badge>;
  return uses < max_uses ? <Badge tone="good">open</Badge> : <Badge tone="plain">used up</Badge>;
}

const Revocation = ({ link: { id, room_id, uses } }: LinkProps) => (
  <ConfirmAction
    label="Revoke"
    accessibleName={`Revoke ${id}`}
    variant="quiet"
    title="Revoke this link?"
    confirmLabel="Revoke link"
    act={(atrium) => atrium.revokeRoomLink(room_id, id)}
    options={{
      toast: "Link revoked",
      refreshes: [["room", room_id], ["identities"], ["identity"]],
    }}
  >
    <p>
      {uses === 0
        ? "No guest has come by it. "
        : `${countOf(uses, { one: "guest has", many: "guests have" })} come by it: their access ends at once, and their identities are deleted. Their texts stay in the room. `}
      This cannot be undone.
    </p>
  </ConfirmAction>
);

/** Latest value of the field for an expiry: JavaScript has no times in later years. */
const LATEST = "9999-12-31T23:59";

interface NewLinkProps extends LinksProps {
  readonly onCreated: () => void;
}

/** Creates a link, and shows its secret once. */
function NewLink({ room: { id }, onCreated }: NewLinkProps) {
  const create = useAction((atrium, link: RoomLinkInput) => atrium.createRoomLink(id, link), {
    refreshes: [["room", id, "links"]],
    onDone: onCreated,
  });
  return (
    <>
      <FormDialog
        button={{ icon: "plus", children: "New link" }}
        title="New link"
        about="Any number of people can use the same link, each as a guest of their own."
        submitLabel="Create link"
        action={create}
        toInput={({ preset, expiresAt, maxUses }) => ({
          permissions: PRESET_NAMES.find((name) => name === preset) ?? "viewer",
          ...(expiresAt && { expiresAt: new Date(expiresAt).toISOString() }),
          ...(maxUses && { maxUses: Number(maxUses) }),
        })}
      >
        <SelectField label="Access" name="preset" options={PRESET_NAMES} />
        <TextField
          label="Expires"
          name="expiresAt"
          type="datetime-local"
          max={LATEST}
          hint="Optional. Otherwise the link lasts until you revoke it."
        />
        <TextField
          label="Guests at most"
          name="maxUses"
          type="number"
          min={1}
          max={10_000}
          hint="Optional. Otherwise 10,000 guests can come by the link."
        />
      </FormDialog>
      <Secret
        title="Secret of the link"
        about="Invite guests to a page of your application, with the secret behind # in its address, such as https://app.example/guest#SECRET. You will not see the secret again."
        secret={create.data?.secret ?? null}
        what="the secret"
        onDone={create.reset}
      >
        <p className="soft">
          The page{" "}
          <a href="/docs/guides/people-and-access#links-for-guests" target="_blank" rel="noreferrer">
            redeems the secret
          </a>{" "}
          for a token of this room.
        </p>
      </Secret>
    </>
  );
}
