/** The person's passkeys. */
import type { Passkey } from "@atrium/contract/rest/passkeys.ts";
import { MAX_PASSKEYS } from "@atrium/contract/sign-in.ts";
import { useState } from "react";
import { callDashboard } from "../data/api.ts";
import { useAction, useApiQuery } from "../data/organization.tsx";
import { findPasskeyProblem, makePasskey } from "../data/passkeys.ts";
import { notify } from "../data/toasts.ts";
import { useSignInSetup } from "../sign-in/challenge.tsx";
import { CurrentPasswordField } from "../sign-in/credentials.tsx";
import { ConfirmButton } from "../ui/dialog.tsx";
import { Loaded } from "../ui/feedback.tsx";
import { Choice, NameField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { Section } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { OptionalTime, Time } from "../ui/time.tsx";
import { useCredentials } from "./provider-section.tsx";

const REFRESHES = [["passkeys"]];

const COLUMNS: readonly Column<Passkey>[] = [
  { label: "Name", cell: ({ name }) => name },
  { label: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  { label: "Last used", cell: ({ last_used_at }) => <OptionalTime at={last_used_at} /> },
  {
    label: "Actions",
    className: "row-actions",
    cell: (passkey) => (
      <>
        <Rename {...passkey} />
        <Remove {...passkey} />
      </>
    ),
  },
];

/** Nothing where people sign in by the company's provider alone. */
export const Passkeys = () => (useSignInSetup().data?.passwords === false ? null : <OwnPasskeys />);

function OwnPasskeys() {
  const query = useApiQuery(["passkeys"], () =>
    callDashboard<{ readonly passkeys: readonly Passkey[] }>("GET", "passkeys"),
  );
  const problem = findPasskeyProblem();
  return (
    <Section
      id="passkeys"
      className="wide"
      title="Passkeys"
      about="Sign in by the lock of your device, such as a fingerprint, or by a security key, without an address and a password. A new password leaves your passkeys as they are: remove those that you do not know."
      beside={problem === null && <Add />}
    >
      {problem !== null && <p className="soft">{problem}</p>}
      <Loaded query={query}>
        {({ passkeys }) =>
          passkeys.length === 0 ? (
            <p className="soft">No passkeys yet. You can have {MAX_PASSKEYS}.</p>
          ) : (
            <Table label="Your passkeys" items={passkeys} idOf={({ id }) => id} columns={COLUMNS} />
          )
        }
      </Loaded>
    </Section>
  );
}

function Add() {
  const hasPassword = useCredentials().data?.password ?? false;
  const add = useAction(
    async (_, { name, password }: { readonly name: string; readonly password: string | undefined }) => {
      const credential = await makePasskey({ password });
      if (credential === null) return false;
      await callDashboard("POST", "passkeys", { name, credential });
      return true;
    },
    { refreshes: REFRESHES, onDone: (isAdded) => isAdded && notify({ title: "Passkey added" }) },
  );
  return (
    <FormDialog
      button={{ icon: "plus", children: "Add a passkey" }}
      title="Add a passkey"
      about="Your browser then asks where to keep it."
      submitLabel="Continue"
      action={add}
      toInput={({ name = "", password }) => ({ name, password })}
    >
      <NameField hint="Where it is, such as Laptop." />
      {hasPassword && <CurrentPasswordField label="Your password" />}
    </FormDialog>
  );
}

const renameTo = (id: string, name: string) => callDashboard("PATCH", `passkeys/${id}`, { name });

function Rename({ id, name }: Passkey) {
  const rename = useAction((_, next: string) => renameTo(id, next), {
    toast: "Passkey renamed",
    undo: () => renameTo(id, name),
    refreshes: REFRESHES,
  });
  return (
    <FormDialog
      button={{ variant: "quiet", "aria-label": `Rename ${name}`, children: "Rename" }}
      title={`Rename ${name}`}
      submitLabel="Rename"
      action={rename}
      toInput={({ name: next = "" }) => next}
    >
      <NameField defaultValue={name} />
    </FormDialog>
  );
}

function Remove({ id, name }: Passkey) {
  const [endSessions, setEndSessions] = useState(false);
  const remove = useAction(() => callDashboard("POST", `passkeys/${id}/delete`, { endSessions }), {
    toast: endSessions ? "Passkey removed. You are signed out everywhere else." : "Passkey removed",
    refreshes: REFRESHES,
  });
  return (
    <ConfirmButton
      label="Remove"
      accessibleName={`Remove ${name}`}
      variant="quiet"
      title={`Remove ${name}?`}
      confirmLabel="Remove passkey"
      action={remove}
    >
      <p>It signs no one in any more. Your device keeps it until you delete it there as well.</p>
      <Choice isOn={endSessions} onChange={setEndSessions}>
        Sign out everywhere else
      </Choice>
    </ConfirmButton>
  );
}
