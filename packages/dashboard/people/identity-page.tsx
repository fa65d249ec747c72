/** An identity: its rooms and its inbox, and beside them its profile and its groups. */
import type { Group, Identity, IdentityUpdateInput, RoomOfIdentity } from "atrium/server";
import { Link, useLocation, useParams } from "wouter";
import { useFilters } from "../data/filters.ts";
import { useAction, useApiQuery } from "../data/organization.tsx";
import { Identifier } from "../ui/button.tsx";
import { ActionButton, ConfirmAction } from "../ui/dialog.tsx";
import { Badge, Loaded, Paged } from "../ui/feedback.tsx";
import { FormDialog } from "../ui/form.tsx";
import { Page, Section } from "../ui/page.tsx";
import { type Column, orDash, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { Inbox, Sent } from "./inbox.tsx";
import { FoundPicker, IdentityFields, KindBadge, removalOf, useAddition } from "./people.tsx";

const ABOVE = <Link href="/people">People</Link>;

export default function IdentityPage() {
  const { identityId = "" } = useParams();
  const query = useApiQuery(["identity", identityId], ({ identities }) => identities.get(identityId));
  return (
    <Loaded query={query} shape="page" above={ABOVE}>
      {(identity) => (
        <Page
          key={identity.id}
          title={identity.name}
          above={ABOVE}
          beside={
            <>
              <KindBadge kind={identity.kind} />
              <Identifier value={identity.id} what="the identity's ID" />
              <span className="soft">
                Created <Time at={identity.created_at} />
              </span>
            </>
          }
          actions={
            <>
              <Edit identity={identity} />
              <TokenEnding identity={identity} />
              <Deletion identity={identity} />
            </>
          }
        >
          <div className="identity-columns">
            <div className="identity-activity">
              <Rooms identity={identity} />
              <Inbox identity={identity} />
              <Sent identity={identity} />
            </div>
            <div className="identity-activity">
              <Profile identity={identity} />
              <Groups identity={identity} />
            </div>
          </div>
        </Page>
      )}
    </Loaded>
  );
}

interface IdentityProps {
  readonly identity: Identity;
}

const TokenEnding = ({ identity: { id, name } }: IdentityProps) => (
  <ConfirmAction
    label="End tokens"
    title={`End the tokens of ${name}?`}
    confirmLabel="End tokens"
    act={({ identities }) => identities.endTokens(id)}
    options={{ toast: "Tokens ended", refreshes: [["room"]] }}
  >
    <p>
      All tokens so far of the identity and of its users in rooms stop working, and their connections close.
      The identity stays.
    </p>
  </ConfirmAction>
);

function Deletion({ identity: { id, name } }: IdentityProps) {
  const [, go] = useLocation();
  return (
    <ConfirmAction
      label="Delete"
      title={`Delete ${name}?`}
      confirmLabel="Delete identity"
      act={({ identities }) => identities.delete(id)}
      options={{
        toast: "Identity deleted",
        refreshes: [["identities"], ["group"], ["room"]],
        onDone: () => go("/people", { replace: true }),
      }}
    >
      <p>
        The identity's name, picture and address are erased. The identity leaves its groups, and loses its
        access to rooms. This cannot be undone.
      </p>
    </ConfirmAction>
  );
}

/** The saved identity in the form's fields. */
const savedInput = ({ name, email, profile_picture, custom_id }: Identity) => ({
  name,
  email: email ?? null,
  profilePicture: profile_picture ?? null,
  customId: custom_id ?? null,
});

/** The fields that the form of {@link Edit} changes. */
const Profile = ({ identity: { email, custom_id, profile_picture } }: IdentityProps) => (
  <Section id="profile" title="Profile">
    <dl className="facts">
      <dt>Email</dt>
      <dd>{orDash(email)}</dd>
      <dt>Custom ID</dt>
      <dd>{orDash(custom_id)}</dd>
      <dt>Picture</dt>
      <dd>{orDash(profile_picture)}</dd>
    </dl>
  </Section>
);

function Edit({ identity }: IdentityProps) {
  const { id } = identity;
  const saved = savedInput(identity);
  const update = useAction(({ identities }, changes: IdentityUpdateInput) => identities.update(id, changes), {
    toast: "Identity saved",
    undo: ({ identities }) => identities.update(id, saved),
    refreshes: [["identity", id], ["identities"], ["group"]],
  });
  return (
    <FormDialog
      button={{ children: "Edit" }}
      title="Edit identity"
      submitLabel="Save"
      action={update}
      toInput={({ name = "", email, profilePicture, customId }) => ({
        name,
        email: email || null,
        profilePicture: profilePicture || null,
        customId: customId || null,
      })}
    >
      <IdentityFields identity={identity} />
    </FormDialog>
  );
}

function Groups({ identity }: IdentityProps) {
  const { id, name } = identity;
  const query = useApiQuery(["identity", id, "groups"], ({ identities }) => identities.listGroups(id));
  const add = useAddition();
  const columns: readonly Column<Group>[] = [
    { label: "Name", cell: (group) => <Link href={`/people/groups/${group.id}`}>{group.name}</Link> },
    { label: "Custom ID", cell: ({ custom_id }) => orDash(custom_id) },
    {
      label: "Actions",
      className: "row-actions",
      cell: (group) => (
        <ActionButton
          label="Remove"
          accessibleName={`Remove from ${group.name}`}
          {...removalOf({ identity, group })}
        />
      ),
    },
  ];
  return (
    <Section
      id="groups"
      title="Groups"
      beside={
        <FoundPicker
          kind="groups"
          icon="plus"
          label="Add to a group by name"
          onChoose={(found) => add.mutate({ identity, group: { id: found.id, name: found.label } })}
        />
      }
    >
      <Loaded query={query} shape="list">
        {({ groups }) => (
          <>
            <Table
              label="Groups of the identity"
              items={groups}
              idOf={(group) => group.id}
              columns={columns}
            />
            {groups.length === 0 && (
              <p className="soft">{name} is in no group. Members of a group have its access to rooms.</p>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Rooms({ identity }: IdentityProps) {
  const { id, name } = identity;
  const filters = useFilters();
  const part = filters.page();
  const rooms = useApiQuery(["identity", id, "rooms", part], ({ identities }) =>
    identities.listRooms(id, part),
  );
  const columns: readonly Column<RoomOfIdentity>[] = [
    { label: "Name", cell: ({ room }) => <Link href={`/rooms/${room.id}`}>{room.name}</Link> },
    {
      label: "Online",
      cell: ({ room: { active_participants: online } }) => (
        <Badge tone={online > 0 ? "good" : "plain"}>{`${online} online`}</Badge>
      ),
    },
    {
      label: "Links",
      className: "row-actions",
      cell: ({ room, user_id: userId }) => (
        <>
          <Link
            className="button quiet"
            href={`/rooms/${room.id}/users/${userId}`}
            aria-label={`User in ${room.name}`}
          >
            User
          </Link>
          <Link
            className="button quiet"
            href={`/rooms/${room.id}/access?check=${id}`}
            aria-label={`Access to ${room.name}`}
          >
            Access
          </Link>
        </>
      ),
    },
  ];
  const others = "Groups and direct access may open more rooms, which are listed here after the first join.";
  const empty = (
    <p className="soft">
      {name} has joined no room. {others}
    </p>
  );
  return (
    <Section id="rooms" title="Rooms">
      <Paged query={rooms} {...{ filters, empty }}>
        {(data) => (
          <>
            <Table
              label="Rooms of the identity"
              items={data.rooms}
              idOf={({ room }) => room.id}
              columns={columns}
            />
            {data.total > 0 && <p className="soft small">{others}</p>}
          </>
        )}
      </Paged>
    </Section>
  );
}
