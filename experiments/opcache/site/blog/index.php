<?php
// SPDX-License-Identifier: Apache-2.0
// The blog: the entry point of all its pages.
declare(strict_types=1);

namespace Site\Blog;

spl_autoload_register(static function (string $class): void {
    require __DIR__ . '/src/' . basename(str_replace('\\', '/', $class)) . '.php';
});

$repository = new PostRepository(__DIR__ . '/posts', new Markup());
$view = new View(__DIR__ . '/templates');
(new Controller($repository, $view))->handle(Request::fromGlobals())->send();
