<?php
// SPDX-License-Identifier: Apache-2.0
// Loads all classes of the site once, when PHP starts, so that requests need not load them.
declare(strict_types=1);

foreach (['modules', 'blog/src'] as $folder) {
    foreach (glob(__DIR__ . "/$folder/*.php") as $file) {
        opcache_compile_file($file);
    }
}
