/** The sign-up page, which also creates an organization. */
import { Link, useLocation } from "wouter";
import type { SignUpPolicy } from "../../../features/people/sign-up-policy.ts";
import { useSignUp, useSignUpPolicy } from "../data/me.ts";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { Challenge } from "./challenge.tsx";
import { EmailField, NewPasswordField } from "./credentials.tsx";
import { SignInLayout } from "./sign-in-layout.tsx";

export default function SignUp() {
  const policy = useSignUpPolicy();
  if (policy.isPending) return <Loading />;
  return (
    <SignInLayout title="Sign up">
      <ErrorMessage error={policy.error} onRetry={policy.refetch} />
      {policy.data?.type === "invite" && (
        <p>
          Sign-up is by invitation only. Ask a member of your organization for an invitation, and open its
          link.
        </p>
      )}
      {policy.data && policy.data.type !== "invite" && <SignUpForm policy={policy.data} />}
      <p className="soft">
        Already have an account? <Link href="/sign-in">Sign in</Link>
      </p>
    </SignInLayout>
  );
}

function SignUpForm({ policy }: { readonly policy: SignUpPolicy }) {
  const [, go] = useLocation();
  const signUp = useSignUp();
  const domains = policy.type === "domains" ? policy.domains.join(", ") : null;
  return (
    <Form
      submitLabel="Sign up"
      error={signUp.error}
      isBusy={signUp.isPending}
      onSubmit={({ name = "", email = "", password = "", organization = "", challenge }) =>
        signUp.mutate({ name, email, password, organization, challenge }, { onSuccess: () => go("/") })
      }
    >
      <TextField label="Your name" name="name" autoComplete="name" required maxLength={255} autoFocus />
      <EmailField
        {...(domains !== null && { hint: `An address of ${domains}. For others, you need an invitation.` })}
      />
      <NewPasswordField />
      <TextField
        label="Organization"
        name="organization"
        autoComplete="organization"
        required
        maxLength={255}
        hint="Owns your rooms. You can invite members and create more organizations later."
      />
      <Challenge error={signUp.error} />
    </Form>
  );
}
