/** The sign-up page, which also creates an organization. */

import type { SignUpPolicy } from "@atrium/contract/rest/people.ts";
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { callDashboard, useSignInRequest } from "../data/api.ts";
import { Loaded } from "../ui/feedback.tsx";
import { NameField, TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { Challenge, useSignInSetup } from "./challenge.tsx";
import { EmailField, NewPasswordField, SignInLayout } from "./credentials.tsx";
import { ProviderButton } from "./provider.tsx";

export const useSignUpPolicy = () =>
  useQuery({
    queryKey: ["sign-up"],
    queryFn: () => callDashboard<SignUpPolicy>("GET", "sign-up"),
  });

export default function SignUp() {
  const policy = useSignUpPolicy();
  const { data: setup } = useSignInSetup();
  return (
    <SignInLayout title="Sign up">
      <Loaded query={policy}>
        {(data) =>
          data.type === "invite" ? (
            <p>
              Sign-up is by invitation only. Ask a member of your organization for an invitation, and open its
              link.
            </p>
          ) : setup?.passwords === false ? null : (
            <SignUpForm domains={data.type === "domains" ? data.domains : null} />
          )
        }
      </Loaded>
      <ProviderButton />
      <p className="soft">
        Already have an account? <Link href="/sign-in">Sign in</Link>
      </p>
    </SignInLayout>
  );
}

interface SignUpFormProps {
  /** The token of an invitation; without one, the person creates an organization, or is the first owner. */
  readonly invitation?: string;
  /** Asks for the code of the first owner. */
  readonly isSetup?: boolean;
  /** Null for addresses of any domain. */
  readonly domains?: readonly string[] | null;
}

export const CodeField = () => (
  <TextField
    label="Code"
    name="code"
    required
    autoFocus
    maxLength={64}
    spellCheck={false}
    autoCapitalize="characters"
    hint="npm run deploy prints it, such as ABCD-EFGH-JKLM."
  />
);

export function SignUpForm({ invitation, isSetup = false, domains = null }: SignUpFormProps) {
  const [, go] = useLocation();
  const signUp = useSignInRequest("sign-up", () => go("/"));
  const isInvited = invitation !== undefined;
  return (
    <Form
      submitLabel={isInvited ? "Sign up and join" : "Sign up"}
      action={signUp}
      toInput={(fields) => (isInvited ? { ...fields, invitation } : fields)}
    >
      {isSetup && <CodeField />}
      <NameField label="Your name" autoComplete="name" autoFocus={!isInvited && !isSetup} />
      <EmailField
        {...(domains !== null && {
          hint: `An address of ${domains.join(", ")}. For others, you need an invitation.`,
        })}
      />
      <NewPasswordField />
      {!isInvited && !isSetup && (
        <NameField
          label="Organization"
          name="organization"
          autoComplete="organization"
          hint="Owns your rooms. You can invite members and create more organizations later."
        />
      )}
      <Challenge error={signUp.error} />
    </Form>
  );
}
