// SPDX-License-Identifier: Apache-2.0
//
// A Flamenco job type that converts the textures of the scene in shards, verifies the tx files, and then renders the frames,
// so that Cycles finds a complete texture cache and converts nothing while it renders.
//
// Put this file into the folder "scripts" beside flamenco-manager, and set the path of txmill in flamenco-manager.yaml:
//
//     variables:
//       txmill:
//         values:
//           - platform: linux
//             value: /usr/local/bin/txmill
//
// As for any Flamenco job, all workers need access to the scene, its textures and the folder of the logs.

const JOB_TYPE = {
    label: "Render with tx files",
    description: "Convert the scene's textures for the Cycles texture cache, verify them, then render the frames",
    settings: [
        // Settings that artists choose.
        { key: "frames", type: "string", required: true,
          eval: "f'{C.scene.frame_start}-{C.scene.frame_end}'",
          evalInfo: { showLinkButton: true, description: "Frame range of the scene" },
          description: "Frames to render, as '47', '1-30' or '3, 5-10, 47-327'" },
        { key: "chunk_size", type: "int32", default: 1, propargs: { min: 1, max: 10000 }, visible: "submission",
          description: "Number of frames per render task" },
        { key: "shards", type: "int32", default: 8, propargs: { min: 1, max: 1000 }, visible: "submission",
          description: "Number of conversion tasks, which take about the same time each" },
        { key: "verify", type: "bool", default: true, visible: "submission",
          description: "Check every tx file before the frames are rendered" },
        { key: "cache_dir", type: "string", subtype: "dir_path", default: "", visible: "submission",
          description: "Texture cache folder, as in Blender's preferences; empty: blender_tx beside each image" },
        { key: "ocio", type: "string", subtype: "file_path", default: "", visible: "submission",
          description: "OpenColorIO config, if the scene is not rendered with Blender's own" },
        { key: "max_memory", type: "string", default: "", visible: "submission",
          description: "Memory limit of a conversion task, such as 4G; empty: no limit" },
        { key: "render_output_root", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder for the frames; the name and time of the job are appended" },
        { key: "add_path_components", type: "int32", required: true, default: 0, propargs: { min: 0, max: 32 },
          visible: "submission",
          description: "Number of folders of the scene's path that are repeated in the output path" },
        { key: "render_output_path", type: "string", subtype: "file_path", editable: false,
          eval: "str(Path(abspath(settings.render_output_root), last_n_dir_parts(settings.add_path_components), " +
                "jobname, '{timestamp}', '######'))",
          description: "Path of the frames" },

        // Settings that the add-on fills in.
        { key: "blendfile", type: "string", required: true, visible: "web", description: "The scene to render" },
        { key: "format", type: "string", required: true, eval: "C.scene.render.image_settings.file_format",
          visible: "web" },
        { key: "scene", type: "string", required: false, eval: "C.scene.name", visible: "web",
          description: "Scene of the file to render" },
    ],
};

// Each of these formats puts all frames into one file, which tasks cannot share.
const VIDEO_FORMATS = ["FFMPEG", "AVI_RAW", "AVI_JPEG"];

function compileJob(job) {
    const settings = job.settings;
    if (VIDEO_FORMATS.indexOf(settings.format) >= 0)
        throw `This job type renders images, not ${settings.format}`;
    if (!settings.render_output_path)
        throw "The setting render_output_path is empty";
    // The job then shows the path that is really used.
    settings.render_output_path = settings.render_output_path.replace(
        /\{timestamp\}/g, formatTimestampLocal(job.created));

    for (const key of ["blendfile", "cache_dir", "ocio", "render_output_path"])
        checkName(key, settings[key], true);
    for (const key of ["scene", "format", "max_memory"])
        checkName(key, settings[key], false);

    const logs = path.join(path.dirname(settings.render_output_path), "txmill");
    const converts = convertTasks(settings, logs);
    const verifies = settings.verify ? verifyTasks(settings, logs, converts) : [];
    const report = reportTask(job, settings, logs, converts);
    const renders = renderTasks(settings);
    // A frame may use any texture, so it waits for all of them.
    for (const render of renders)
        for (const before of verifies.length ? verifies : converts)
            render.addDependency(before);
    for (const task of [].concat(converts, verifies, [report], renders))
        job.addTask(task);
}

// Flamenco replaces {variables} in all commands, so a name that contains one would become another name. A path may begin
// with one, since Flamenco itself puts variables there for workers with other systems.
function checkName(key, value, isPath) {
    const name = isPath && value ? value.replace(/^\{[^{}]*\}/, "") : value || "";
    if (/\{[^{}]*\}/.test(name))
        throw `${key}: Flamenco would replace the variable in ${JSON.stringify(value)}; rename it`;
}

function shardCount(settings) {
    return Math.max(1, settings.shards || 1);
}

function logOf(logs, shard) {
    return path.join(logs, `convert-${shard}.jsonl`);
}

function execTask(name, exe, args) {
    const task = author.Task(name, "misc");
    task.addCommand(author.Command("exec", { exe: exe, args: args }));
    return task;
}

// Each task has the same inputs and converts one shard of them; all workers compute the same division. Flamenco retries a
// task that fails on another worker; finished files are kept, so a retry costs little.
function convertTasks(settings, logs) {
    const tasks = [], count = shardCount(settings);
    const common = [];
    if (settings.cache_dir)
        common.push("--cache-dir", settings.cache_dir);
    if (settings.ocio)
        common.push("--ocio", settings.ocio);
    if (settings.max_memory)
        common.push("--max-memory", settings.max_memory);
    for (let shard = 1; shard <= count; shard++) {
        const args = ["make", "--shard", `${shard}/${count}`, "--progress", "--log", logOf(logs, shard)];
        tasks.push(execTask(`convert-${shard}`, "{txmill}", args.concat(common, ["--", settings.blendfile])));
    }
    return tasks;
}

function verifyTasks(settings, logs, converts) {
    return converts.map((convert, i) => {
        const args = ["verify", "--quiet", "--run", logOf(logs, i + 1)];
        if (settings.ocio)
            args.push("--ocio", settings.ocio);
        const task = execTask(`verify-${i + 1}`, "{txmill}", args);
        task.addDependency(convert);
        return task;
    });
}

function reportTask(job, settings, logs, converts) {
    const args = ["report", "--title", job.name.replace(/[{}]/g, "_"), "--output", path.join(logs, "report.html")];
    const task = execTask("report", "{txmill}", args.concat(converts.map((_, i) => logOf(logs, i + 1))));
    for (const convert of converts)
        task.addDependency(convert);
    return task;
}

function renderTasks(settings) {
    const scene = settings.scene ? ["--scene", settings.scene] : [];
    return frameChunker(settings.frames, settings.chunk_size || 1).map(chunk => {
        const task = author.Task(`render-${chunk}`, "blender");
        task.addCommand(author.Command("blender-render", {
            exe: "{blender}",
            exeArgs: "{blenderArgs}",
            argsBefore: [],
            blendfile: settings.blendfile,
            args: scene.concat([
                "--render-output", settings.render_output_path,
                "--render-format", settings.format,
                // Blender writes ranges with two dots.
                "--render-frame", chunk.replace(/-/g, ".."),
            ]),
        }));
        return task;
    });
}
