// The words of `ambit store`, and its help.
import type { Command } from "commander";
import type { ExitCode } from "../terminal/exit.ts";
import type { JsonOption } from "../terminal/problems.ts";
import {
  type HistoryOptions,
  type PutOptions,
  type RemoveOptions,
  type StorePorts,
  storeDefine,
  storeDelete,
  storeGet,
  storeHistory,
  storeList,
  storePut,
} from "./store.ts";

export function addStore(program: Command, ports: StorePorts, end: (exit: ExitCode) => void): void {
  const store = program.command("store").description("read and write the shared stores of a workspace");
  const word = (name: string, about: string): Command =>
    store.command(name).description(about).option("--json", "print one JSON object", false);
  word("list", "list stores, with the class that grants name").action(async (options: JsonOption) =>
    end(await storeList(ports, options)),
  );
  word("get", "print the items of a store, or one of them")
    .argument("<store>", "a name shown by ambit store list")
    .argument("[key]", "the key of one item")
    .action(async (name: string, key: string | undefined, options: JsonOption) =>
      end(await storeGet(ports, name, key, options)),
    );
  word("put", "write one item; its value must fit the schema of the store")
    .argument("<store>", "a name shown by ambit store list")
    .argument("<key>", "the key of the item")
    .argument("[value]", "its value as JSON")
    .option("--file <file>", "a file with the value")
    .option("--revision <number>", "the revision that is replaced; without it the item must be new")
    .action(async (name: string, key: string, value: string | undefined, options: PutOptions) =>
      end(await storePut(ports, name, key, value, options)),
    );
  word("delete", "remove one item")
    .argument("<store>", "a name shown by ambit store list")
    .argument("<key>", "the key of the item")
    .requiredOption("--revision <number>", "the revision that is removed")
    .action(async (name: string, key: string, options: RemoveOptions) =>
      end(await storeDelete(ports, name, key, options)),
    );
  word("define", "define a store by the JSON Schema of its values, or change its schema")
    .argument("<store>", "a new name, or one that was defined before")
    .argument("<schema>", "a file with a JSON Schema")
    .action(async (name: string, file: string, options: JsonOption) =>
      end(await storeDefine(ports, name, file, options)),
    );
  word("history", "show who changed a store, the newest change first, from the log")
    .argument("<store>", "a name shown by ambit store list")
    .argument("[key]", "of this item alone")
    .option("--count <number>", "how many changes", "50")
    .action(async (name: string, key: string | undefined, options: HistoryOptions) =>
      end(await storeHistory(ports, name, key, options)),
    );
  for (const one of [store, ...store.commands]) one.addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ambit store list
  ambit store put crm acme '{"name": "Acme", "stage": "lead"}'
  ambit store put crm acme '{"name": "Acme", "stage": "customer"}' --revision 1
  ambit store get crm acme --json
  ambit store define leads leads.schema.json
  ambit store history crm acme

Exit status: 0 done, 1 not written or no such item, 2 usage, 4 no daemon.`;
