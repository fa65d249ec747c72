/** How the person signs in. */
import { callDashboard } from "../data/api.ts";
import { useAction } from "../data/organization.tsx";
import { useSignInSetup } from "../sign-in/challenge.tsx";
import { CurrentPasswordField, NewPasswordField } from "../sign-in/credentials.tsx";
import { ErrorMessage } from "../ui/feedback.tsx";
import { Form } from "../ui/form.tsx";
import { Section } from "../ui/page.tsx";
import { Passkeys } from "./passkeys.tsx";
import { ProviderSection, useCredentials } from "./provider-section.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { Sessions } from "./sessions.tsx";

/** The sections with lists are last: on wide screens, the others stand side by side above these. */
export const SignInPart = () => (
  <>
    <Password />
    <SecondFactor />
    <ProviderSection />
    <Passkeys />
    <Sessions />
  </>
);

/** Nothing where people sign in by the company's provider alone. */
function Password() {
  const { data: setup } = useSignInSetup();
  const { data, error, refetch } = useCredentials();
  if (error) return <ErrorMessage error={error} onRetry={refetch} />;
  if (data === undefined || setup?.passwords === false) return null;
  return <PasswordForm isFirst={!data.password} />;
}

function PasswordForm({ isFirst }: { readonly isFirst: boolean }) {
  const change = useAction(
    (_, input: { current: string | undefined; next: string }) => callDashboard("POST", "password", input),
    {
      toast: `Password ${isFirst ? "set" : "changed"}. You are signed out everywhere else.`,
      refreshes: [["credentials"]],
    },
  );
  return (
    <Section id="password" title="Password" {...(isFirst && { about: "You have none yet." })}>
      <Form
        key={change.isSuccess ? change.submittedAt : 0}
        submitLabel={isFirst ? "Set password" : "Change password"}
        action={change}
        toInput={({ current, next = "" }) => ({ current, next })}
      >
        {!isFirst && <CurrentPasswordField label="Current password" name="current" />}
        <NewPasswordField name="next" label="New password" />
      </Form>
    </Section>
  );
}
