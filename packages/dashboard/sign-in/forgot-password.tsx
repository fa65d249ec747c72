/** The page for a forgotten password: mails a link where the service sends mail, or names the people to ask. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { callDashboard } from "../data/api.ts";
import { Loaded } from "../ui/feedback.tsx";
import { Form, type Values } from "../ui/form.tsx";
import { Challenge } from "./challenge.tsx";
import { EmailField, SignInLayout } from "./credentials.tsx";

const PATH = "password-links";

export default function ForgotPassword() {
  const service = useQuery({
    queryKey: [PATH],
    queryFn: () => callDashboard<{ readonly by_mail: boolean }>("GET", PATH),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <SignInLayout title="Forgot your password?">
      <Loaded query={service}>
        {(data) =>
          data.by_mail ? (
            <LinkByMail />
          ) : (
            <p>
              An owner of your organization can send you a link to choose a new one. Owners make it in
              Settings, Members.
            </p>
          )
        }
      </Loaded>
      <p className="soft">
        <Link href="/sign-in">Back to sign in</Link>
      </p>
    </SignInLayout>
  );
}

function LinkByMail() {
  const request = useMutation({
    mutationFn: (fields: Values) => callDashboard<object>("POST", PATH, fields),
  });
  if (request.isSuccess) {
    return (
      <>
        <p role="status">
          If an account has the address {request.variables.email}, a link to choose a new password is on its
          way. It works once, within an hour.
        </p>
        <p className="soft">
          Nothing arrives? Look into the spam folder, or ask an owner of your organization.
        </p>
      </>
    );
  }
  return (
    <>
      <p className="soft">We send you a link to choose a new one.</p>
      <Form submitLabel="Send link" action={request} toInput={(fields) => fields}>
        <EmailField autoFocus />
        <Challenge error={request.error} />
      </Form>
    </>
  );
}
