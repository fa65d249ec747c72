/** A user of a room: token, name and sessions. */
import type { UserSession } from "atrium/server";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { CopyButton, Identifier } from "../ui/copy.tsx";
import { Badge, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { Choice, TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { Table } from "../ui/table.tsx";
import { formatDuration, Time } from "../ui/time.tsx";
import { useDeleteUser, useEndTokens, useExportUser, useRenameUser, useUser } from "./use-users.ts";

export interface UserPartProps {
  readonly roomId: string;
  readonly userId: string;
}

export function UserPart({ roomId, userId }: UserPartProps) {
  const address = useAddress();
  const { data, error, refetch } = useUser(roomId, userId);
  if (data === undefined) return error ? <ErrorMessage error={error} onRetry={refetch} /> : <Loading />;
  const { user, sessions } = data;
  return (
    <section aria-labelledby="user-name">
      <p className="above">
        <Link href={address(`/rooms/${roomId}/users`)}>Users</Link>
      </p>
      <div className="title-row">
        <h2 id="user-name">{user.name}</h2>
        <Badge tone={user.status === "online" ? "good" : "plain"}>{user.status}</Badge>
        <Badge tone="plain">{user.role}</Badge>
        <Identifier value={user.id} what="the user's ID" />
        <CopyButton text={user.token} what="token, valid for an hour" label="Copy token" />
        <TokenEnding {...{ roomId, userId }} name={user.name} />
        <Export {...{ roomId, userId }} />
        <Deletion {...{ roomId, userId }} name={user.name} />
      </div>
      {user.profile_picture && <p className="soft">Profile picture: {user.profile_picture}</p>}
      <Name {...{ roomId, userId }} name={user.name} />
      <h3>Sessions</h3>
      <Sessions sessions={sessions} />
    </section>
  );
}

function Export({ roomId, userId }: UserPartProps) {
  const act = useExportUser(roomId, userId);
  return (
    <Button variant="quiet" isBusy={act.isPending} onClick={() => act.mutate()}>
      Export data
    </Button>
  );
}

function Deletion({ roomId, userId, name }: UserPartProps & { readonly name: string }) {
  const address = useAddress();
  const [, go] = useLocation();
  const [erases, setErases] = useState(false);
  const remove = useDeleteUser(roomId, userId, erases);
  const act = {
    ...remove,
    mutateAsync: async () => {
      await remove.mutateAsync();
      go(address(`/rooms/${roomId}/users`));
    },
  };
  return (
    <ConfirmButton
      label="Delete"
      variant="quiet"
      title={`Delete ${name}?`}
      confirmLabel="Delete user"
      act={act}
    >
      <p>The user's tokens stop working and their connections close. This cannot be undone.</p>
      <Choice isOn={erases} onChange={setErases}>
        Erase their comments, reactions and files, and their name in events
      </Choice>
    </ConfirmButton>
  );
}

function TokenEnding({ roomId, userId, name }: UserPartProps & { readonly name: string }) {
  return (
    <ConfirmButton
      label="End tokens"
      variant="quiet"
      title={`End the tokens of ${name}?`}
      confirmLabel="End tokens"
      act={useEndTokens(roomId, userId)}
    >
      <p>All tokens of the user so far stop working and their connections close. The user stays.</p>
    </ConfirmButton>
  );
}

function Name({ roomId, userId, name }: UserPartProps & { readonly name: string }) {
  const rename = useRenameUser(roomId, userId);
  return (
    <Form
      submitLabel="Save"
      error={rename.error}
      isBusy={rename.isPending}
      onSubmit={({ name: changed = "" }) => rename.mutate(changed)}
    >
      <TextField label="Name" name="name" required maxLength={255} defaultValue={name} />
    </Form>
  );
}

function Sessions({ sessions }: { readonly sessions: readonly UserSession[] }) {
  if (sessions.length === 0)
    return <p className="soft">This user has never joined. Join from a browser with the token.</p>;
  return (
    <Table label="Sessions" columns={["Joined", "Left", "Duration"]}>
      {sessions.map(({ id, joined_at, left_at }) => (
        <tr key={id}>
          <td>
            <Time at={joined_at} />
          </td>
          <td>{left_at === null ? <Badge tone="good">online</Badge> : <Time at={left_at} />}</td>
          <td>{formatDuration(secondsBetween(joined_at, left_at))}</td>
        </tr>
      ))}
    </Table>
  );
}

const secondsBetween = (from: string, to: string | null): number =>
  Math.max(0, Math.round(((to === null ? Date.now() : Date.parse(to)) - Date.parse(from)) / 1000));
