<?php
// SPDX-License-Identifier: Apache-2.0
// Reports the state of the opcode cache, which the subject verifies.
declare(strict_types=1);

$status = function_exists('opcache_get_status') ? opcache_get_status(false) : false;
$told = $status['opcache_statistics'] ?? [];
$settings = [];
foreach (['enable', 'validate_timestamps', 'revalidate_freq', 'file_cache_only', 'preload'] as $name) {
    $value = ini_get("opcache.$name");
    $settings[$name] = $value === false ? 'none' : ($name === 'preload' ? ($value === '' ? 'no' : 'yes') : $value);
}
$settings['jit'] = ($status['jit']['on'] ?? false) ? 'on' : 'off';
header('Content-Type: application/json');
echo json_encode([
    'php' => PHP_VERSION,
    'sapi' => PHP_SAPI,
    'enabled' => $status !== false && ($status['opcache_enabled'] ?? false) || ($status['file_cache_only'] ?? false),
    'hits' => $told['hits'] ?? 0,
    'misses' => ($told['misses'] ?? 0) + ($told['blacklist_misses'] ?? 0),
    'scripts' => $told['num_cached_scripts'] ?? 0,
    'restarts' => ($told['oom_restarts'] ?? 0) + ($told['hash_restarts'] ?? 0),
    'memory' => ($status['memory_usage']['used_memory'] ?? 0) + ($status['memory_usage']['wasted_memory'] ?? 0),
    'jit' => ($status['jit']['buffer_size'] ?? 0) - ($status['jit']['buffer_free'] ?? 0),
    'settings' => $settings,
]);
