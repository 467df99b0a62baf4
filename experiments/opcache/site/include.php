<?php
// SPDX-License-Identifier: Apache-2.0
// A page that uses a given number of classes, each in its own file, which is loaded at the first use.
declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    require __DIR__ . '/modules/' . basename(str_replace('\\', '/', $class)) . '.php';
});

if (!in_array($_SERVER['REQUEST_METHOD'], ['GET', 'HEAD'], true)) {
    http_response_code(405);
    header('Allow: GET, HEAD');
    exit('this page is only read');
}
$files = filter_var($_GET['files'] ?? '', FILTER_VALIDATE_INT, ['options' => ['min_range' => 1, 'max_range' => 500]]);
if ($files === false) {
    http_response_code(400);
    exit('files is a number from 1 to 500');
}
$sum = 0;
for ($number = 0; $number < $files; $number++) {
    $class = sprintf('Site\\Modules\\Module%03d', $number);
    $sum = ($sum + $class::value($number)) % 1000003;
}
?>
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title><?= $files ?> files</title></head>
<body><p><?= $files ?> files were used; together they say <?= $sum ?>.</p></body>
</html>
