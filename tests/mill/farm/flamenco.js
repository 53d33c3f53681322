// SPDX-License-Identifier: Apache-2.0
//
// The Flamenco job type, compiled as the Manager does it: flamenco.js SCRIPT JOB.json prints the tasks as JSON lines.
//
// Around the script is what its documentation and the scripts that come with Flamenco use: author.Task(name, type),
// author.Command(name, parameters), task.addCommand, task.addDependency, job.addTask, path, frameChunker,
// formatTimestampLocal, print. The stub is strict where the Manager is: a task must have been added for another one to
// depend on it, commands and their parameters must be known, settings must be those of the form.
"use strict";
const fs = require("fs"), nodePath = require("path"), vm = require("vm");

const TASK_TYPES = ["blender", "ffmpeg", "file-management", "misc"];
// Parameters of the commands that a Worker knows: type, and whether they may be left out.
const COMMANDS = {
    "exec": { exe: "string", args: "strings" },
    "blender-render": { exe: "string", exeArgs: "string?", argsBefore: "strings", blendfile: "string", args: "strings" },
};
const SETTING_TYPES = { string: "string", int32: "number", float: "number", bool: "boolean" };
const SETTING_MEMBERS = ["key", "type", "subtype", "choices", "propargs", "description", "default", "eval", "evalInfo",
                         "visible", "required", "editable", "label"];

function fail(message) {
    throw new Error(message);
}

function checkParameters(name, parameters) {
    const known = COMMANDS[name] || fail(`no command "${name}"`);
    for (const key of Object.keys(parameters))
        known[key] || fail(`${name}: no parameter "${key}"`);
    for (const [key, type] of Object.entries(known)) {
        const value = parameters[key];
        if (value === undefined && type.endsWith("?"))
            continue;
        const good = type === "strings" ? Array.isArray(value) && value.every(v => typeof v === "string")
                                        : typeof value === "string";
        good || fail(`${name}: "${key}" is not ${type}`);
    }
}

class Task {
    constructor(name, type) {
        typeof name === "string" && name || fail("a task needs a name");
        TASK_TYPES.includes(type) || fail(`no task type "${type}"`);
        Object.assign(this, { name, type, commands: [], dependencies: [] });
    }
    addCommand(command) {
        this.commands.push(command);
    }
    addDependency(task) {
        task instanceof Task || fail("a dependency is a task");
        task !== this || fail("a task depends on itself");
        this.dependencies.push(task);
    }
}

// Splits "3, 5-10" into pieces of at most `size` frames. Consecutive frames of a piece become a range.
function frameChunker(range, size) {
    const frames = range.split(",").flatMap(part => {
        const [first, last = first] = part.split("-").map(n => parseInt(n, 10));
        Number.isInteger(first) && Number.isInteger(last) || fail(`no frame range: "${range}"`);
        return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
    const chunks = [];
    for (let i = 0; i < frames.length; i += size) {
        const part = frames.slice(i, i + size), whole = part[part.length - 1] - part[0] === part.length - 1;
        chunks.push(part.length === 1 ? `${part[0]}` : whole ? `${part[0]}-${part[part.length - 1]}` : part.join(","));
    }
    return chunks;
}

// Returns the settings as the form gives them, with defaults for the rest, after checking the form itself.
function formValues(jobType, given) {
    const values = {}, keys = new Set();
    for (const setting of jobType.settings) {
        for (const member of Object.keys(setting))
            SETTING_MEMBERS.includes(member) || fail(`setting ${setting.key}: no member "${member}"`);
        const type = SETTING_TYPES[setting.type] || fail(`setting ${setting.key}: no type "${setting.type}"`);
        keys.has(setting.key) && fail(`setting ${setting.key} twice`);
        keys.add(setting.key);
        const value = setting.key in given ? given[setting.key] : setting.default;
        if (value === undefined && setting.required)
            fail(`setting ${setting.key} is required`);
        if (value !== undefined && typeof value !== type)
            fail(`setting ${setting.key}: ${JSON.stringify(value)} is no ${setting.type}`);
        if (value !== undefined)
            values[setting.key] = value;
    }
    for (const key of Object.keys(given))
        keys.has(key) || fail(`no setting "${key}"`);
    return values;
}

const [script, jobFile] = process.argv.slice(2);
const tasks = [];
const sandbox = {
    author: {
        Task: (name, type) => new Task(name, type),
        Command: (name, parameters) => (checkParameters(name, parameters), { name, parameters }),
    },
    path: { join: nodePath.join, dirname: nodePath.dirname, basename: nodePath.basename,
            stem: p => nodePath.parse(p).name },
    frameChunker,
    formatTimestampLocal: time => new Date(time).toISOString().slice(0, 19).replace("T", "_").replace(/:/g, ""),
    print: () => {},
};
const context = vm.createContext(sandbox);
vm.runInContext(fs.readFileSync(script, "utf8") + "\n;this.jobType = JOB_TYPE; this.compile = compileJob;", context,
                { filename: script });
const given = JSON.parse(fs.readFileSync(jobFile, "utf8"));
typeof sandbox.jobType.label === "string" || fail("the job type has no label");
sandbox.compile({
    name: given.name,
    created: given.created,
    settings: formValues(sandbox.jobType, given.settings),
    metadata: {},
    addTask(task) {
        task instanceof Task || fail("only tasks can be added");
        tasks.some(t => t.name === task.name) && fail(`two tasks "${task.name}"`);
        task.commands.length || fail(`task ${task.name} has no command`);
        for (const before of task.dependencies)
            tasks.includes(before) || fail(`${task.name} depends on ${before.name}, which was not added before it`);
        tasks.push(task);
    },
});
for (const t of tasks)
    console.log(JSON.stringify({ name: t.name, type: t.type, commands: t.commands,
                                 dependencies: t.dependencies.map(d => d.name) }));
