// A held token against a token that names one request.
import { Diagnostics } from "../../src/core/notation/diagnostic.ts";
import { readToken, readTokenRequest } from "../../src/core/notation/tokens/token.ts";
import { answerOf, decisionOf, NO_SPAN, READING } from "./machine.ts";
import { allowOrDeny, type Family } from "./outcome.ts";
import { textAt } from "./row.ts";

export const tokenGlob: Family = {
  answers: ["expect"],
  run: (row) => {
    const grant = readToken(textAt(row, "held"), { reading: READING, diagnostics: new Diagnostics(), span: NO_SPAN });
    const request = readTokenRequest(textAt(row, "request"), { reading: READING });
    const got = request.ok
      ? answerOf(decisionOf(grant === null ? [] : [grant], request.value))
      : { expect: "deny", code: "invalid_input" };
    return allowOrDeny({ expect: textAt(row, "expect") }, got);
  },
};
