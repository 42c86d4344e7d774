// The rule: a tool reaches the world through its context and by no other way. It reads one file at a time and follows
// no values around: what is hidden from it is what the sandbox is for.
import {
  ambientModule,
  CODE,
  COMPUTED,
  GLOBAL_OBJECTS,
  GLOBALS,
  LOADER,
  LOADERS,
  PROCESS_MEMBERS,
} from "./ambient.mjs";

export const noAmbientAuthority = {
  meta: {
    type: "problem",
    docs: {
      description: "Keeps files, network, processes, code from text and the environment out of tools.",
      recommended: true,
    },
    schema: [
      {
        type: "object",
        properties: { allow: { type: "array", items: { type: "string" }, uniqueItems: true } },
        additionalProperties: false,
      },
    ],
    defaultOptions: [{ allow: [] }],
    messages: {
      module: '"{{name}}" reaches {{why}}. Use {{use}}.',
      global: "`{{name}}` reaches {{why}}. Use {{use}}.",
      computed: "`{{name}}` loads {{why}}. Use {{use}}.",
    },
  },

  create(context) {
    const source = context.sourceCode ?? context.getSourceCode();
    const allowed = new Set(context.options?.[0]?.allow ?? []);

    function report(node, messageId, name, { why, use }) {
      if (!allowed.has(name)) context.report({ node, messageId, data: { name, why, use } });
    }

    function module(node, name) {
      const found = ambientModule(name);
      if (found !== null) report(node, "module", name, found);
    }

    /** The text of a name that is written out; null for one that is put together. */
    function written(node) {
      if (node?.type === "Literal") return typeof node.value === "string" ? node.value : null;
      if (node?.type === "TemplateLiteral" && node.expressions.length === 0) return node.quasis[0].value.cooked;
      if (node?.type === "BinaryExpression" && node.operator === "+") {
        const [left, right] = [written(node.left), written(node.right)];
        return left === null || right === null ? null : left + right;
      }
      return null;
    }

    function member(node) {
      return node.computed ? written(node.property) : (node.property.name ?? null);
    }

    /** Whether the name stands for the global: nothing in the file declares it. */
    function isGlobal(node) {
      for (let scope = source.getScope(node); scope !== null; scope = scope.upper) {
        const variable = scope.set.get(node.name);
        if (variable !== undefined) return variable.defs.length === 0;
      }
      return true;
    }

    function isGlobalObject(node) {
      const inner = unwrapped(node);
      return inner?.type === "Identifier" && GLOBAL_OBJECTS.has(inner.name) && isGlobal(inner);
    }

    /** `process` itself, or as a property of the global object. */
    function isProcess(node) {
      const inner = unwrapped(node);
      if (inner?.type === "Identifier") return inner.name === "process" && isGlobal(inner);
      return inner?.type === "MemberExpression" && isGlobalObject(inner.object) && member(inner) === "process";
    }

    function loads(node, callee, argument) {
      const name = written(argument);
      if (name === null) report(node, "computed", callee, COMPUTED);
      else module(argument, name);
    }

    function memberUse(node) {
      const name = member(node);
      if (isGlobalObject(node.object)) {
        if (name === null) report(node, "global", source.getText(node), LOADER);
        else if (GLOBALS.has(name)) report(node, "global", name, GLOBALS.get(name));
        return;
      }
      if (isProcess(node.object)) {
        if (name === null) report(node, "global", source.getText(node), LOADER);
        else if (PROCESS_MEMBERS.has(name)) report(node, "global", `process.${name}`, PROCESS_MEMBERS.get(name));
        return;
      }
      // `(() => {}).constructor("...")`: the way to `Function` that names no global.
      if (name === "constructor" && isCalled(node) && !isInClass(node)) report(node, "global", "constructor", CODE);
    }

    function patternUse(pattern, from) {
      for (const property of pattern.properties) {
        if (property.type !== "Property") continue;
        const key = property.computed ? written(property.key) : (property.key.name ?? property.key.value);
        const found = from === "process" ? PROCESS_MEMBERS.get(key) : GLOBALS.get(key);
        if (found !== undefined) report(property, "global", from === "process" ? `process.${key}` : key, found);
      }
    }

    return {
      ImportDeclaration(node) {
        if (node.importKind !== "type" && !areAllTypes(node.specifiers)) module(node.source, node.source.value);
      },
      ExportNamedDeclaration(node) {
        if (node.source && node.exportKind !== "type") module(node.source, node.source.value);
      },
      ExportAllDeclaration(node) {
        if (node.exportKind !== "type") module(node.source, node.source.value);
      },
      TSImportEqualsDeclaration(node) {
        const reference = node.moduleReference;
        if (node.importKind !== "type" && reference?.type === "TSExternalModuleReference")
          module(reference.expression, written(reference.expression));
      },
      ImportExpression(node) {
        loads(node, "import()", node.source);
      },
      CallExpression(node) {
        const callee = unwrapped(node.callee);
        const isName = callee?.type === "Identifier";
        const name = isName ? callee.name : callee?.type === "MemberExpression" ? member(callee) : null;
        const first = node.arguments[0];
        if (name !== null && LOADERS.has(name) && first !== undefined) {
          // A local function that happens to be called `require` is the file's own.
          if (isName && name !== "require" && !isGlobal(callee) && name !== "createRequire") return;
          if (name === "createRequire") report(node, "global", "createRequire", LOADER);
          else loads(node, name, first);
        }
        // What `createRequire` made is called at once or under any name.
        if (callee?.type === "CallExpression" && nameOf(callee.callee) === "createRequire") loads(node, "createRequire", first);
      },
      NewExpression(node) {
        const callee = unwrapped(node.callee);
        if (callee?.type === "MemberExpression" && member(callee) === "constructor")
          report(node, "global", "constructor", CODE);
      },
      MetaProperty(node) {
        const { parent } = node;
        if (node.meta.name !== "import" || parent?.type !== "MemberExpression") return;
        const name = member(parent);
        if (name === "resolve" || name === null) report(parent, "global", "import.meta.resolve", LOADER);
        if (name === "env") report(parent, "global", "import.meta.env", PROCESS_MEMBERS.get("env"));
      },
      MemberExpression: memberUse,
      VariableDeclarator(node) {
        if (node.id.type !== "ObjectPattern") return;
        if (isProcess(node.init)) patternUse(node.id, "process");
        else if (isGlobalObject(node.init)) patternUse(node.id, "global");
      },
      Identifier(node) {
        if (!GLOBALS.has(node.name) || !isReference(node) || !isGlobal(node)) return;
        report(node, "global", node.name, GLOBALS.get(node.name));
      },
    };

    function nameOf(node) {
      const inner = unwrapped(node);
      if (inner?.type === "Identifier") return inner.name;
      return inner?.type === "MemberExpression" ? member(inner) : null;
    }
  },
};

/** What stands in parentheses, chains, casts and commas: `(0, eval)` is eval. */
function unwrapped(node) {
  let inner = node;
  for (let depth = 0; depth < 32 && inner !== null && inner !== undefined; depth++) {
    if (inner.type === "ChainExpression") inner = inner.expression;
    else if (inner.type === "SequenceExpression") inner = inner.expressions.at(-1);
    else if (/^TS(?:As|NonNull|Satisfies|TypeAssertion|InstantiationExpression)/.test(inner.type)) inner = inner.expression;
    else return inner;
  }
  return null;
}

function areAllTypes(specifiers) {
  return specifiers.length > 0 && specifiers.every((one) => one.importKind === "type");
}

function isCalled(node) {
  return (node.parent?.type === "CallExpression" || node.parent?.type === "NewExpression") && node.parent.callee === node;
}

/** `this.constructor(...)` inside a class is the class's own. */
function isInClass(node) {
  return node.object.type === "ThisExpression" || node.object.type === "Super";
}

/** Whether an identifier stands for a value by its own name: no key, no property, no declaration, no label, no type. */
function isReference(node) {
  const { parent } = node;
  if (parent === undefined || parent === null) return true;
  switch (parent.type) {
    case "MemberExpression":
    case "MetaProperty":
      return parent.property !== node || parent.computed === true;
    case "Property":
    case "PropertyDefinition":
    case "MethodDefinition":
    case "AccessorProperty":
      return parent.key !== node || parent.computed || parent.shorthand === true;
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ClassDeclaration":
    case "ClassExpression":
      return parent.superClass === node;
    case "VariableDeclarator":
      return parent.init === node;
    case "ImportSpecifier":
    case "ImportDefaultSpecifier":
    case "ImportNamespaceSpecifier":
    case "LabeledStatement":
    case "BreakStatement":
    case "ContinueStatement":
      return false;
    case "ExportSpecifier":
      return parent.local === node;
    default:
      return !parent.type.startsWith("TS") || /^TS(?:As|NonNull|Satisfies|TypeAssertion|ExportAssignment)/.test(parent.type);
  }
}
