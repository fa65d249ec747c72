/** The person's account at the company's provider, and what they sign in by. */
import type { OwnCredentials } from "@atrium/contract/rest/people.ts";
import { callDashboard } from "../data/api.ts";
import { useAction, useApiQuery } from "../data/organization.tsx";
import { useSignInSetup } from "../sign-in/challenge.tsx";
import { CurrentPasswordField } from "../sign-in/credentials.tsx";
import type { ProviderStart } from "../sign-in/provider.tsx";
import { ConfirmAction } from "../ui/dialog.tsx";
import { FormDialog } from "../ui/form.tsx";
import { Section } from "../ui/page.tsx";

const CREDENTIALS = ["credentials"];

export const useCredentials = () =>
  useApiQuery(CREDENTIALS, () => callDashboard<OwnCredentials>("GET", "me/credentials"));

/** Nothing where the deployment has no provider. */
export function ProviderSection() {
  const { data } = useCredentials();
  const { data: setup } = useSignInSetup();
  if (!data?.oidc) return null;
  const { name, connected } = data.oidc;
  return connected ? (
    <Section
      id="provider"
      title={`Account at ${name}`}
      about={`It is connected: you can sign in with ${name}.`}
    >
      {setup?.passwords !== false && (
        <div>
          <ConfirmAction
            label="Disconnect"
            title={`Disconnect ${name}?`}
            confirmLabel="Disconnect"
            act={() => callDashboard("POST", "oidc/disconnect", {})}
            options={{ toast: `${name} disconnected`, refreshes: [CREDENTIALS] }}
          >
            <p>You then sign in by your password or a passkey. Your sessions go on.</p>
          </ConfirmAction>
        </div>
      )}
    </Section>
  ) : (
    <Connect name={name} hasPassword={data.password} />
  );
}

interface ConnectProps {
  readonly name: string;
  readonly hasPassword: boolean;
}

function Connect({ name, hasPassword }: ConnectProps) {
  const next = location.pathname;
  const connect = useAction(
    (_, password: string | undefined) =>
      callDashboard<ProviderStart>("POST", "oidc/connect", { next, password }),
    { onDone: ({ url }) => location.assign(url) },
  );
  return (
    <Section id="provider" title={`Account at ${name}`} about="Connect your account there to sign in by it.">
      <div>
        <FormDialog
          button={{ children: `Connect ${name}` }}
          title={`Connect ${name}`}
          about={`You sign in at ${name}, and come back to this page.`}
          submitLabel="Continue"
          action={connect}
          toInput={({ password }) => password}
        >
          {hasPassword && <CurrentPasswordField label="Your password" />}
        </FormDialog>
      </div>
    </Section>
  );
}
