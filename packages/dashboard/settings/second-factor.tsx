/** The person's second factor: an authenticator app and recovery codes. */
import type { FactorSetUp, FactorStatus, RecoveryCodes } from "@atrium/contract/rest/second-factor.ts";
import { lazy, Suspense, useState } from "react";
import { callDashboard } from "../data/api.ts";
import { loadPage } from "../data/connection.ts";
import { useAction, useApiQuery } from "../data/organization.tsx";
import { useSignInSetup } from "../sign-in/challenge.tsx";
import { CodeField, CurrentPasswordField } from "../sign-in/credentials.tsx";
import { Button, CodeBlock, Identifier, saveFile } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Loaded, Loading } from "../ui/feedback.tsx";
import { Form, FormDialog } from "../ui/form.tsx";
import { Section } from "../ui/page.tsx";
import { Day } from "../ui/time.tsx";
import { useCredentials } from "./provider-section.tsx";

const QrCode = lazy(() => loadPage(() => import("../ui/qr-code.tsx")));

const FACTOR = ["second-factor"];

export const useSecondFactor = () =>
  useApiQuery(FACTOR, () => callDashboard<FactorStatus>("GET", "second-factor"));

/** Nothing where people sign in by the company's provider alone, unless they have one from before. */
export function SecondFactor() {
  const query = useSecondFactor();
  const { data: setup } = useSignInSetup();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const onDone = ({ recovery_codes }: RecoveryCodes) => setCodes(recovery_codes);
  if (setup?.passwords === false && query.data?.second_factor === null) return null;
  return (
    <Section
      id="second-factor"
      title="Second factor"
      about="After your password, signing in also asks for a code that an authenticator app on your phone shows."
    >
      <Loaded query={query}>
        {({ second_factor: factor }) =>
          factor === null ? (
            <Inactive onDone={onDone} />
          ) : (
            <>
              <p>
                Active since <Day at={factor.created_at} />. {countOf(factor.recovery_codes)} left.
              </p>
              <div className="actions">
                <NewCodes onDone={onDone} />
                <TurningOff />
              </div>
            </>
          )
        }
      </Loaded>
      <NewRecoveryCodes codes={codes} onDone={() => setCodes(null)} />
    </Section>
  );
}

const countOf = (count: number): string =>
  count === 1 ? "One recovery code is" : `${count} recovery codes are`;

interface SetUpProps {
  readonly onDone: (made: RecoveryCodes) => void;
}

/** A second factor protects a password: someone without one cannot set it up. */
function Inactive(props: SetUpProps) {
  const { data } = useCredentials();
  if (data === undefined) return null;
  return data.password ? (
    <div>
      <SetUp {...props} />
    </div>
  ) : (
    <p className="soft">
      A second factor protects a password, and you have none: <a href="#password">set one</a> first.
    </p>
  );
}

/** Asks for the password, then shows the secret until a first code of it arrives. */
function SetUp({ onDone }: SetUpProps) {
  const begin = useAction((_, password: string) =>
    callDashboard<FactorSetUp>("POST", "second-factor/set-up", { password }),
  );
  const confirm = useAction(
    (_, input: { ticket: string; code: string }) =>
      callDashboard<RecoveryCodes>("POST", "second-factor", input),
    { toast: "Second factor activated", refreshes: [FACTOR], onDone },
  );
  const made = begin.data;
  const leave = () => {
    begin.reset();
    confirm.reset();
  };
  return (
    <>
      <FormDialog
        button={{ children: "Set up" }}
        title="Set up a second factor"
        submitLabel="Continue"
        action={begin}
        toInput={({ password = "" }) => password}
      >
        <CurrentPasswordField label="Your password" />
      </FormDialog>
      <Dialog
        title="Add it to your authenticator app"
        about="Scan the picture with the app, or enter the secret there. The second factor is active once you have entered a first code."
        isOpen={made !== undefined && !confirm.isSuccess}
        onClose={leave}
      >
        {made && (
          <>
            <Suspense fallback={<Loading />}>
              <QrCode text={made.url} label="QR code of the secret" />
            </Suspense>
            <Identifier value={made.secret} what="the secret" isWhole />
            <Form
              submitLabel="Activate"
              action={confirm}
              toInput={({ code = "" }) => ({ ticket: made.ticket, code })}
              onCancel={leave}
            >
              <CodeField label="First code" hint="The six digits that the app shows now." />
            </Form>
          </>
        )}
      </Dialog>
    </>
  );
}

interface NewRecoveryCodesProps {
  readonly codes: readonly string[] | null;
  readonly onDone: () => void;
}

const NewRecoveryCodes = ({ codes, onDone }: NewRecoveryCodesProps) => (
  <Dialog
    title="Your recovery codes"
    about="Keep them where you find them without your phone. Each one signs you in once in place of a code. You will not see them again."
    isOpen={codes !== null}
    onClose={onDone}
    isSticky
  >
    <CodeBlock what="the recovery codes" text={codes?.join("\n") ?? ""} />
    <footer>
      <Button onClick={() => saveFile("atrium-recovery-codes.txt", "text/plain", `${codes?.join("\n")}\n`)}>
        Save as file
      </Button>
      <Button variant="primary" onClick={onDone}>
        Done
      </Button>
    </footer>
  </Dialog>
);

interface Proof {
  readonly password: string;
  readonly code: string;
}

const toProof = ({ password = "", code = "" }: Readonly<Record<string, string>>): Proof => ({
  password,
  code,
});

const ProofFields = () => (
  <>
    <CurrentPasswordField label="Your password" />
    <CodeField />
  </>
);

function NewCodes({ onDone }: SetUpProps) {
  const renew = useAction(
    (_, proof: Proof) => callDashboard<RecoveryCodes>("POST", "second-factor/recovery-codes", proof),
    { refreshes: [FACTOR], onDone },
  );
  return (
    <FormDialog
      button={{ children: "New recovery codes" }}
      title="New recovery codes"
      about="Your present recovery codes stop working."
      submitLabel="Replace codes"
      action={renew}
      toInput={toProof}
    >
      <ProofFields />
    </FormDialog>
  );
}

function TurningOff() {
  const turnOff = useAction((_, proof: Proof) => callDashboard("POST", "second-factor/off", proof), {
    toast: "Second factor turned off",
    refreshes: [FACTOR],
  });
  return (
    <FormDialog
      button={{ children: "Turn off" }}
      title="Turn off the second factor?"
      about="Your password alone will sign you in, and your recovery codes stop working."
      submitLabel="Turn off"
      action={turnOff}
      toInput={toProof}
    >
      <ProofFields />
    </FormDialog>
  );
}
